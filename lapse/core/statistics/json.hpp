// The little JSON that reports need.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace lapse {

// The text as a JSON string, in quotes.
inline std::string json_string(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      json += c;
    }
  }
  return json + "\"";
}

}  // namespace lapse
