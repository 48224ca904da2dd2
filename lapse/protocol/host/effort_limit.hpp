// Bounds the share of a processor's time that some work takes, by pauses after it.
#pragma once

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace lapse {

// After work, pauses `factor` times as long as the work has used this thread's processor, at most 10 ms.
// Thread safety: used by one thread at a time.
class EffortLimit {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kLongest{10};

  // 0: no pauses.
  void set_factor(unsigned factor) { factor_ = factor; }
  bool is_due(Clock::time_point now) const { return now >= due_; }
  // Calls f() at `now` and schedules the next run after the pauses that this and earlier work require.
  template <class F>
  void run(Clock::time_point now, F&& f) {
    if (factor_ == 0) return std::forward<F>(f)();
    const std::chrono::nanoseconds begin = processor_time();
    std::forward<F>(f)();
    const std::chrono::nanoseconds pause = factor_ * (processor_time() - begin);
    due_ = std::min<Clock::time_point>(std::max(due_, now) + pause, now + kLongest);
  }

 private:
  static std::chrono::nanoseconds processor_time() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  unsigned factor_ = 0;
  Clock::time_point due_;
};

}  // namespace lapse
