// Wall time of work that the workers of one rank do together.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

namespace lapse::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double>(end - begin).count();
}

// Thread safety: each worker calls the functions under its own number, all of them in the same order.
class JointTimer {
 public:
  explicit JointTimer(std::size_t workers) : workers_(workers), begin_(workers), end_(workers) {}

  // Starts together, calls f() and returns the seconds from the first start to the last end, equal on
  // every worker.
  template <class F>
  double time(std::size_t worker, F&& f) {
    meet();
    begin_[worker] = Clock::now();
    f();
    end_[worker] = Clock::now();
    meet();
    return seconds_between(*std::ranges::min_element(begin_), *std::ranges::max_element(end_));
  }

 private:
  // Spins until all workers are here, so that they continue at the same time.
  void meet() {
    constexpr int kPollsPerYield = 1000;
    const std::size_t round = rounds_.load(std::memory_order_acquire);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers_) {
      arrived_.store(0, std::memory_order_relaxed);
      rounds_.store(round + 1, std::memory_order_release);
      return;
    }
    for (int polls = 1; rounds_.load(std::memory_order_acquire) == round; ++polls) {
      if (polls % kPollsPerYield == 0) std::this_thread::yield();
    }
  }

  std::size_t workers_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<std::size_t> rounds_{0};
  std::vector<Clock::time_point> begin_;
  std::vector<Clock::time_point> end_;
};

// The optimiser must assume that the memory at `address` is read and written by this call.
inline void touch(const void* address) {
  asm volatile("" : : "g"(address) : "memory");
}

}  // namespace lapse::bench
