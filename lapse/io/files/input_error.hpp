// Errors while reading the bytes of an input.
#pragma once

#include "lapse/core/export.hpp"
#include "lapse/core/file_error.hpp"

namespace lapse::io {

// Bytes that cannot be read or decompressed: describes the problem without a position. Readers of lines add
// the line and throw FileError instead.
class LAPSE_EXPORT InputError : public Error {
 public:
  using Error::Error;
};

}  // namespace lapse::io
