// What the ranks of a network inside one process share in place of memory of a host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace lapse {

// Thread safety: any thread.
class LoopbackMemory {
 public:
  // `free_bytes`: how much there shall be, in all.
  explicit LoopbackMemory(std::size_t free_bytes) : free_bytes_(free_bytes) {}

  // The `number`-th piece of a group: made for the first rank that asks, the same for the others. Zeroed, at
  // a page boundary. Throws OutOfMemory when it exceeds what is free.
  std::byte* piece(std::int32_t group, std::size_t number, std::size_t bytes);
  std::size_t free_bytes() const { return free_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  const std::size_t free_bytes_;
  std::mutex mutex_;
  std::map<std::pair<std::int32_t, std::size_t>, std::unique_ptr<std::byte, Free>> pieces_;
};

// One rank's share in it.
class LoopbackGroup {
 public:
  explicit LoopbackGroup(LoopbackMemory& memory) : memory_(memory) {}

  void join(std::int32_t group) { group_ = group; }
  std::byte* allocate(std::size_t bytes) { return memory_.piece(group_, pieces_++, bytes); }
  std::size_t free_bytes() const { return memory_.free_bytes(); }

 private:
  LoopbackMemory& memory_;
  std::int32_t group_ = 0;
  std::size_t pieces_ = 0;
};

}  // namespace lapse
