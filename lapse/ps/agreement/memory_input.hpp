// Bytes in memory, as a stream buffer.
#pragma once

#include <cstddef>
#include <span>
#include <streambuf>

namespace lapse {

// Reads bytes that outlive the object. Used by one thread.
class MemoryInput : public std::streambuf {
 public:
  explicit MemoryInput(std::span<const char> bytes) {
    // The interface of std::streambuf does not know constant bytes; nothing writes to them.
    char* const begin = const_cast<char*>(bytes.data());
    setg(begin, begin, begin + bytes.size());
  }

  std::size_t remaining() const { return static_cast<std::size_t>(egptr() - gptr()); }
};

}  // namespace lapse
