// A worker's clock in a random workload.
#pragma once

#include <cstdint>
#include <utility>

#include "lapse/core/random.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/worker.hpp"
#include "test/support/history_live_counters.hpp"

namespace lapse::test {

// Advances the clock between the calls of a worker, and notifies the history. Waits in steps: no call blocks.
// Used by the worker's thread.
class ClockPlay {
 public:
  // `joins`: the worker begins after others have, at a clock that it is given, and leaves before they do.
  ClockPlay(Worker& worker, LiveCounters& live, std::uint32_t calls_of_clock, bool joins)
      : worker_(worker), live_(live), calls_of_clock_(calls_of_clock), joins_(joins), begun_(!joins) {
    if (joins) live_.joins(worker_.index());
  }

  // Returns whether the worker joins now, which is a step of its own.
  bool begin() {
    if (std::exchange(begun_, true)) return false;
    worker_.core().join_clock();
    live_.joined(worker_.index(), worker_.core().endpoint().level().clock());
    return true;
  }

  // Draws whether the next call advances the clock.
  void draw(RandomEngine& random) { advances_ = random.below(calls_of_clock_) == 0; }
  bool advances() const { return advances_; }
  // Whether the next call would not wait for other workers, or for answers.
  bool may_call() const { return advances_ ? worker_.core().may_advance() : worker_.core().may_pass_all(); }
  void advance() {
    worker_.advance_clock();
    live_.advanced(worker_.index());
    advances_ = false;
  }
  // The worker makes no call any more.
  void end() {
    if (ended_) return;
    ended_ = true;
    live_.ended(worker_.index());
    if (joins_) return worker_.core().leave_clock();
    WorkerCore::end_clock(worker_.core().seat());
  }

 private:
  Worker& worker_;
  LiveCounters& live_;
  const std::uint32_t calls_of_clock_;
  const bool joins_;
  bool begun_;
  bool advances_ = false;
  bool ended_ = false;
};

}  // namespace lapse::test
