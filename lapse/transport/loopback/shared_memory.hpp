// Memory that ranks of a network in one process share, in place of memory of a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "lapse/core/mutex.hpp"
#include "lapse/transport/host/shared_memory.hpp"

namespace lapse {

// Thread safety: any thread.
class LoopbackMemory {
 public:
  // `free_bytes`: total memory.
  explicit LoopbackMemory(std::size_t free_bytes) : free_bytes_(free_bytes) {}

  // The `number`-th piece of a group: made for the first rank that asks, then returned to the others. Zeroed
  // and page-aligned. Throws OutOfMemory if it exceeds the free memory.
  std::byte* piece(std::int32_t group, std::size_t number, std::size_t bytes);
  std::size_t free_bytes() const { return free_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  const std::size_t free_bytes_;
  Mutex mutex_;
  std::map<std::pair<std::int32_t, std::size_t>, std::unique_ptr<std::byte, Free>> pieces_
      LAPSE_GUARDED_BY(mutex_);
};

// One rank's view of a LoopbackMemory. Not collective: the first rank of a group makes a piece, the others
// find it.
class LoopbackSharedMemory final : public SharedMemory {
 public:
  explicit LoopbackSharedMemory(LoopbackMemory& memory) : memory_(memory) {}

  std::string problem() const override { return {}; }
  void join_group(std::int32_t group) override { group_ = group; }
  std::byte* allocate(std::size_t bytes) override { return memory_.piece(group_, pieces_++, bytes); }
  std::size_t free_bytes() const override { return memory_.free_bytes(); }
  std::string place() const override { return {}; }

 private:
  LoopbackMemory& memory_;
  std::int32_t group_ = 0;
  std::size_t pieces_ = 0;
};

}  // namespace lapse
