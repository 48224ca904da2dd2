// How long a thread that finds no work keeps polling before it sleeps.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace lapse {

struct IdleSettings {
  std::chrono::microseconds spin{200};       // poll again at once, yielding, this long after the last success
  std::chrono::microseconds sleep_min{100};  // then sleep: at first this long,
  std::chrono::microseconds sleep_max{1000};  // twice as long each time, up to this
  // Empty polls between two clock readings; 0: read the clock and yield each time (more threads than cores).
  std::uint32_t polls_per_yield = 256;
  // Minimum time between two yields: a yield costs a time slice if other programs want the processor.
  std::chrono::microseconds yield_interval{25};
  // Like yield_interval, for threads that compute and drive the engine in between, where processors are
  // scarce.
  std::chrono::microseconds way_interval{100};
};

// Pure: the caller passes the time. One object per waiting thread.
class IdlePolicy {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Step : std::uint8_t { poll, yield, sleep };

  explicit IdlePolicy(const IdleSettings& settings) : settings_(settings), next_sleep_(settings.sleep_min) {}

  // The poll found work.
  void succeeded() {
    idle_since_known_ = false;
    polls_ = 0;
    next_sleep_ = settings_.sleep_min;
  }

  // The poll found nothing. `now` is called rarely enough to be free.
  template <class Now>
  Step failed(Now&& now) {
    if (++polls_ <= settings_.polls_per_yield) return Step::poll;
    polls_ = 0;
    const Clock::time_point time = now();
    if (!idle_since_known_) {
      idle_since_ = time;
      yielded_ = time;
      idle_since_known_ = true;
    }
    if (time - idle_since_ >= settings_.spin) return Step::sleep;
    if (settings_.polls_per_yield != 0 && time - yielded_ < settings_.yield_interval) return Step::poll;
    yielded_ = time;
    return Step::yield;
  }

  // How long to sleep this time, at most `longest`; grows until something succeeds.
  std::chrono::microseconds sleep_length(std::chrono::microseconds longest) {
    const std::chrono::microseconds length = std::min(next_sleep_, longest);
    next_sleep_ = std::min(2 * length, longest);
    return length;
  }
  std::chrono::microseconds sleep_length() { return sleep_length(settings_.sleep_max); }

 private:
  IdleSettings settings_;
  std::uint32_t polls_ = 0;
  bool idle_since_known_ = false;
  Clock::time_point idle_since_;
  Clock::time_point yielded_;
  std::chrono::microseconds next_sleep_;
};

}  // namespace lapse
