#include "lapse/io/text/header_names.hpp"

#include <algorithm>
#include <string>

namespace lapse::io {

bool is_header_name(std::string_view field, std::span<const std::string_view> names) {
  constexpr std::string_view kIgnored = "_-. \"'#:";
  std::string name;
  for (const char c : field) {
    if (kIgnored.find(c) != std::string_view::npos) continue;
    name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return std::ranges::find(names, name) != names.end();
}

}  // namespace lapse::io
