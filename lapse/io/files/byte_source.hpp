// Common interface of sources of bytes.
#pragma once

#include <cstddef>
#include <span>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Bytes that are read once, in order. Used by one thread.
class LAPSE_EXPORT ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Reads some bytes; returns 0 only at the end, repeatedly if called again. Throws InputError.
  virtual std::size_t read(std::span<char> destination) = 0;
};

}  // namespace lapse::io
