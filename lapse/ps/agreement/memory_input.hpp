// A stream buffer over bytes in memory.
#pragma once

#include <cstddef>
#include <span>
#include <streambuf>

namespace lapse {

// Reads bytes, which must outlive the object. Thread safety: one thread.
class MemoryInput : public std::streambuf {
 public:
  explicit MemoryInput(std::span<const char> bytes) {
    // std::streambuf takes no constant bytes. Nothing writes to them.
    char* const begin = const_cast<char*>(bytes.data());
    setg(begin, begin, begin + bytes.size());
  }

  std::size_t remaining() const { return static_cast<std::size_t>(egptr() - gptr()); }
};

}  // namespace lapse
