#include "adapm/tracing/traced_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lapse/core/error.hpp"

namespace adapm {

using lapse::Key;

namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view part) {
  throw lapse::ConfigurationError(fmt::format(
      "option trace_keys cannot be '{}', because of '{}': expected table:key,key;table:key", text, part));
}

// Calls f(part) for each part between separators.
template <class F>
void for_each_part(std::string_view text, char separator, F&& f) {
  for (;;) {
    const std::size_t end = text.find(separator);
    f(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

std::map<std::string, std::vector<Key>> traced_keys(std::string_view text) {
  std::map<std::string, std::vector<Key>> tables;
  if (text.empty()) return tables;
  for_each_part(text, ';', [&](std::string_view table) {
    const std::size_t colon = table.rfind(':');
    if (colon == std::string_view::npos || colon == 0) refuse(text, table);
    std::vector<Key>& keys = tables[std::string(table.substr(0, colon))];
    for_each_part(table.substr(colon + 1), ',', [&](std::string_view word) {
      std::uint64_t number = 0;
      const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
      if (problem != std::errc{} || end != word.data() + word.size()) refuse(text, table);
      keys.emplace_back(number);
    });
  });
  for (auto& [name, keys] : tables) {
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  return tables;
}

}  // namespace adapm
