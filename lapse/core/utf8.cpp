#include "lapse/core/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace lapse {

namespace {

// The bytes of the character at the start of a non-empty text; 0 if there is none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
  }
  if (first == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
  if (first == 0xed && byte(1) > 0x9f) return 0;  // surrogate
  if (first == 0xf0 && byte(1) < 0x90) return 0;  // overlong
  if (first == 0xf4 && byte(1) > 0x8f) return 0;  // above U+10FFFF
  return length;
}

}  // namespace

std::size_t valid_utf8_bytes(std::string_view text) {
  std::size_t valid = 0;
  while (valid < text.size()) {
    std::uint64_t eight = 0;
    if (text.size() - valid >= sizeof(eight)) {
      std::memcpy(&eight, text.data() + valid, sizeof(eight));
      if ((eight & 0x8080808080808080U) == 0) {  // ASCII
        valid += sizeof(eight);
        continue;
      }
    }
    const std::size_t bytes = character_bytes(text.substr(valid));
    if (bytes == 0) return valid;
    valid += bytes;
  }
  return valid;
}

}  // namespace lapse
