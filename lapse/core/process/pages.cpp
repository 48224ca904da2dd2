#include "lapse/core/process/pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace lapse {

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

bool populate_pages(std::byte* begin, std::size_t bytes, const std::function<std::size_t()>& free_bytes) {
  if (bytes == 0 || madvise(begin, bytes, MADV_POPULATE_WRITE) == 0) return true;
  if (errno != EINVAL) return false;
  // A kernel before 5.14 cannot populate: check that the memory is available, then touch it without changing
  // it, as another process may do so concurrently.
  if (bytes > free_bytes()) return false;
  for (std::size_t offset = 0; offset < bytes; offset += page_bytes()) {
    auto* const word = reinterpret_cast<std::uint32_t*>(begin + offset);
    std::atomic_ref<std::uint32_t>(*word).fetch_or(0, std::memory_order_relaxed);
  }
  return true;
}

void release_pages(std::byte* begin, std::size_t bytes) {
  madvise(begin, bytes, MADV_REMOVE);
}

}  // namespace lapse
