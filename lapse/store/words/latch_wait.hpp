// How a thread waits for a latch that another thread holds.
#pragma once

#include <chrono>
#include <thread>

#include "lapse/core/process/sleep_between_polls.hpp"
#include "lapse/store/words/latch_watch.hpp"

namespace lapse {

// A latch is held for about 100 ns, while the system does not run its holder, while application code runs, or
// indefinitely by a stopped process. So a waiter yields at first and sleeps after a long wait. One object per
// wait.
class LatchWait {
 public:
  using Clock = std::chrono::steady_clock;

  // Call after a short spin. True if a report is due. `watch` may be null.
  bool pause(const LatchWatch* watch) {
    if (yields_ < kYieldsWithoutClock) {
      ++yields_;
      std::this_thread::yield();
      return false;
    }
    const Clock::time_point now = Clock::now();
    if (start_ == Clock::time_point{}) {
      start_ = now;
      if (watch != nullptr) due_ = watch->patience();
    }
    waited_ = now - start_;
    if (waited_ < kSleepsAfter) {
      std::this_thread::yield();
      return false;
    }
    sleep_between_polls(waited_);
    if (due_ == Clock::duration::zero() || waited_ < due_) return false;
    due_ += watch->patience();
    return true;
  }
  Clock::duration waited() const { return waited_; }

 private:
  static constexpr int kYieldsWithoutClock = 64;
  static constexpr Clock::duration kSleepsAfter = std::chrono::microseconds(500);

  int yields_ = 0;
  Clock::time_point start_{};
  Clock::duration waited_{};
  Clock::duration due_{};
};

}  // namespace lapse
