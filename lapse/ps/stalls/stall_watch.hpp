// Detects that a wait takes suspiciously long.
#pragma once

#include <chrono>
#include <cstdint>

namespace lapse {

// The reason for a worker's wait.
enum class StallSubject : std::uint8_t {
  keys,          // answers about keys
  workers,       // all workers of all ranks
  sync_barrier,  // all workers of all ranks, then until all ranks are synced
  wait_sync,     // until the domain's replicas are synced
  level,         // all workers of all ranks, until they have reached a clock
};

// The name of such a wait in traces.
inline const char* region_name(StallSubject subject) {
  switch (subject) {
    case StallSubject::workers:
      return "lapse collective";
    case StallSubject::sync_barrier:
      return "lapse sync_barrier";
    case StallSubject::wait_sync:
      return "lapse wait_sync";
    case StallSubject::level:
      return "lapse clock";
    case StallSubject::keys:
      break;
  }
  return "lapse wait";
}

// Polled by one waiting thread. Reads the clock once in kPollsPerClock polls. If `limit` is 0, never reports.
class StallWatch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit StallWatch(std::chrono::seconds limit) : limit_(limit) {}

  bool due() {
    if (limit_.count() == 0 || ++polls_ % kPollsPerClock != 0) return false;
    const Clock::time_point now = Clock::now();
    if (since_ == Clock::time_point{}) since_ = now;
    if (first_ == Clock::time_point{}) first_ = now;
    waited_ = now - first_;
    return now - since_ >= limit_;
  }
  // Returns how long the wait had taken at the last reading of the clock.
  Clock::duration waited() const { return waited_; }
  // Restarts the time to the next report. Call it after a report.
  void restart() { since_ = Clock::time_point{}; }

 private:
  static constexpr std::uint32_t kPollsPerClock = 32;

  std::chrono::seconds limit_;
  std::uint32_t polls_ = 0;
  Clock::time_point since_{};  // the first reading, or the last report
  Clock::time_point first_{};
  Clock::duration waited_{};
};

}  // namespace lapse
