// Counts the keys of a worker's operations that are in flight.
#pragma once

#include <atomic>
#include <cstdint>

namespace lapse {

// Thread safety: add, require_none, bar and unbar: the worker. finish, close, open and require_some: the
// holder of the progress lock. Queries: both. Each counter has one writer, so that neither needs an atomic
// read-modify-write.
//
// Invariant: the difference of the counters is the total, with three bits above it:
//
//   | closed 1 | required 1 | barred 1 | total 29 |
//
// So one comparison answers all questions that a worker has before it accesses memory.
class UnansweredCount {
 public:
  // At most 2^29 - 1, limits::kUnansweredKeys: a worker begins no operation that could exceed it.
  std::uint32_t total() const { return difference() & (kBarredBit - 1); }
  // Nothing is unanswered, no version of a key is required, and the count is neither barred nor closed.
  bool is_clear() const { return difference() == 0; }
  // The worker must not read outdated replicas of some keys: it has seen newer versions (RequiredVersions).
  bool requires_some() const { return (difference() & kRequiredBit) != 0; }
  // The worker may not access every table now: it is too far ahead of others.
  bool is_barred() const { return (difference() & kBarredBit) != 0; }
  void bar() {
    if (!is_barred()) add(kBarredBit);
  }
  void unbar() {
    if (is_barred()) add(-kBarredBit);
  }
  void add(std::uint32_t items = 1) {
    submitted_.store(submitted_.load(std::memory_order_relaxed) + items, std::memory_order_relaxed);
  }
  void finish(std::uint32_t items) {
    answered_.store(answered_.load(std::memory_order_relaxed) + items, std::memory_order_release);
  }
  // is_clear() is false until open().
  void close() {
    if (!is_closed()) finish(kClosedBit);
  }
  void open() {
    if (is_closed()) finish(kClosedBit);
  }
  // Called in turns, first by the engine, which adds the bit to the difference; the worker subtracts it.
  void require_some() { finish(-kRequiredBit); }
  void require_none() { add(-kRequiredBit); }

 private:
  static constexpr std::uint32_t kClosedBit = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kRequiredBit = std::uint32_t{1} << 30;
  static constexpr std::uint32_t kBarredBit = std::uint32_t{1} << 29;

  bool is_closed() const { return (difference() & kClosedBit) != 0; }
  std::uint32_t difference() const {
    const std::uint32_t done = answered_.load(std::memory_order_acquire);
    return submitted_.load(std::memory_order_relaxed) - done;
  }

  std::atomic<std::uint32_t> submitted_{0};  // both wrap
  std::atomic<std::uint32_t> answered_{0};
};

}  // namespace lapse
