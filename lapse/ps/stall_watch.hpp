// Notices that a wait takes suspiciously long.
#pragma once

#include <chrono>
#include <cstdint>

namespace lapse {

// Polled by one waiting thread; reads the clock once in kPollsPerClock polls. limit 0: never reports a stall.
class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StallWatch(std::chrono::seconds limit) : limit_(limit) {}

  bool due() {
    if (limit_.count() == 0 || ++polls_ % kPollsPerClock != 0) return false;
    const Clock::time_point now = Clock::now();
    if (since_ == Clock::time_point{}) since_ = now;
    return now - since_ >= limit_;
  }
  // Start measuring anew, after a report.
  void restart() { since_ = Clock::time_point{}; }

 private:
  static constexpr std::uint32_t kPollsPerClock = 256;

  std::chrono::seconds limit_;
  std::uint32_t polls_ = 0;
  Clock::time_point since_{};
};

}  // namespace lapse
