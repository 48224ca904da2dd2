// The encoding of texts, by its name among the readers.
#pragma once

#include "lapse/core/utf8.hpp"

namespace lapse::io {

using lapse::valid_utf8_bytes;

}  // namespace lapse::io
