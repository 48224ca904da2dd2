// The encoding of texts, under its name in this library.
#pragma once

#include "lapse/core/utf8.hpp"

namespace lapse::io {

using lapse::valid_utf8_bytes;

}  // namespace lapse::io
