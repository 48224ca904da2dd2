// One interface for what bytes can be read from.
#pragma once

#include <cstddef>
#include <span>

#include "lapse/core/export.hpp"

namespace lapse::io {

// Bytes that are read once, from the first to the last. Used by one thread.
class LAPSE_EXPORT ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Gives some bytes, 0 only at the end, also when called again. Throws InputError.
  virtual std::size_t read(std::span<char> destination) = 0;
};

}  // namespace lapse::io
