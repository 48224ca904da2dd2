// How many keys of a worker's operations are in flight.
#pragma once

#include <atomic>
#include <cstdint>

namespace lapse {

// Thread safety: add by the worker, finish by the holder of the progress lock, total by both. Each counter
// has one writer, so that neither needs an atomic read-modify-write.
class UnansweredCount {
 public:
  std::uint32_t total() const {
    const std::uint32_t done = answered_.load(std::memory_order_acquire);
    return submitted_.load(std::memory_order_relaxed) - done;
  }
  void add() { submitted_.store(submitted_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void finish(std::uint32_t items) {
    answered_.store(answered_.load(std::memory_order_relaxed) + items, std::memory_order_release);
  }

 private:
  std::atomic<std::uint32_t> submitted_{0};  // both wrap
  std::atomic<std::uint32_t> answered_{0};
};

}  // namespace lapse
