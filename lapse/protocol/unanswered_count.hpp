// How many keys of a worker's operations are in flight.
#pragma once

#include <atomic>
#include <cstdint>

namespace lapse {

// Thread safety: add by the worker, finish and close by the holder of the progress lock, the questions by
// both. Each counter has one writer, so that neither needs an atomic read-modify-write.
//
// Invariant: the difference of the counters is the total, with the top bit added once the count is closed.
// One comparison thus answers both questions that a worker has before it touches memory.
class UnansweredCount {
 public:
  // At most 2^31 - 1.
  std::uint32_t total() const { return difference() & ~kClosedBit; }
  // Nothing is unanswered, and the count is not closed.
  bool is_clear() const { return difference() == 0; }
  void add(std::uint32_t items = 1) {
    submitted_.store(submitted_.load(std::memory_order_relaxed) + items, std::memory_order_relaxed);
  }
  void finish(std::uint32_t items) {
    answered_.store(answered_.load(std::memory_order_relaxed) + items, std::memory_order_release);
  }
  // Once: is_clear() is false from now on.
  void close() { finish(kClosedBit); }

 private:
  static constexpr std::uint32_t kClosedBit = std::uint32_t{1} << 31;

  std::uint32_t difference() const {
    const std::uint32_t done = answered_.load(std::memory_order_acquire);
    return submitted_.load(std::memory_order_relaxed) - done;
  }

  std::atomic<std::uint32_t> submitted_{0};  // both wrap
  std::atomic<std::uint32_t> answered_{0};
};

}  // namespace lapse
