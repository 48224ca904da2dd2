// The encoding of texts.
#pragma once

#include <cstddef>
#include <string_view>

#include "lapse/core/export.hpp"

namespace lapse {

// The number of bytes at the start of a text that are valid UTF-8 (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF); the text's length if all are.
LAPSE_EXPORT std::size_t valid_utf8_bytes(std::string_view text);

}  // namespace lapse
