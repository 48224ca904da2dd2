// How many rounds of communication a rank begins in a second.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace adapm {

// Thread safety: any thread.
class RoundLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // 0: no limit; then no clock is read.
  explicit RoundLimit(std::uint32_t rounds_per_second)
      : least_(rounds_per_second == 0 ? Clock::duration(0)
                                      : Clock::duration(std::chrono::seconds(1)) / rounds_per_second) {}

  // The least time between the beginnings of two rounds.
  Clock::duration least_interval() const { return least_; }

  bool allows_round(Clock::time_point (*now)() = &Clock::now) const {
    return least_ == Clock::duration(0) ||
           now().time_since_epoch().count() >= next_.load(std::memory_order_relaxed);
  }
  // A round begins.
  void count_round(Clock::time_point (*now)() = &Clock::now) {
    if (least_ != Clock::duration(0))
      next_.store((now() + least_).time_since_epoch().count(), std::memory_order_relaxed);
  }

 private:
  const Clock::duration least_;
  std::atomic<Clock::rep> next_{Clock::time_point::min().time_since_epoch().count()};
};

}  // namespace adapm
