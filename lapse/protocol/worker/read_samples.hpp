// Samples of a worker's reads of replicas, from which the engine finds out how old the replicas were.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lapse/core/types.hpp"

namespace lapse {

// A queue from one worker to the engine of its rank. Drops samples while it is full.
//
// Thread safety: note: the worker's thread. take: the holder of the progress lock.
class ReadSamples {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t kRoom = 16;

  struct Sample {
    TableId table;
    Key key;
    Clock::time_point at;
  };

  void note(const Sample& sample) {
    const std::uint32_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == kRoom) return;
    samples_[end % kRoom] = sample;
    end_.store(end + 1, std::memory_order_release);
  }
  // Removes the samples and calls f(sample) for each.
  template <class F>
  void take(F&& f) {
    std::uint32_t begin = begin_.load(std::memory_order_relaxed);
    const std::uint32_t end = end_.load(std::memory_order_acquire);
    if (begin == end) return;
    for (; begin != end; ++begin) f(samples_[begin % kRoom]);
    begin_.store(begin, std::memory_order_release);
  }

 private:
  std::atomic<std::uint32_t> begin_{0};
  std::atomic<std::uint32_t> end_{0};
  std::array<Sample, kRoom> samples_;
};

}  // namespace lapse
