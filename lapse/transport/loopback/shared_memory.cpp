#include "lapse/transport/loopback/shared_memory.hpp"

#include <fmt/format.h>

#include <cstring>

#include "lapse/core/error.hpp"

namespace lapse {

std::byte* LoopbackMemory::piece(std::int32_t group, std::size_t number, std::size_t bytes) {
  constexpr std::size_t kPage = 4096;
  if (bytes > free_bytes_)
    throw OutOfMemory(fmt::format("{} bytes of shared memory are wanted, there are {}", bytes, free_bytes_));
  const MutexLock guard(mutex_);
  auto& piece = pieces_[{group, number}];
  if (!piece) {
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    piece.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, whole)));
    if (!piece) throw OutOfMemory(fmt::format("no memory for {} bytes", whole));
    std::memset(piece.get(), 0, whole);
  }
  return piece.get();
}

}  // namespace lapse
