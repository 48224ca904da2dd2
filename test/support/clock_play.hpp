// A worker's clock in a random workload.
#pragma once

#include <cstdint>

#include "lapse/core/random.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/worker.hpp"
#include "test/support/history_live_counters.hpp"

namespace lapse::test {

// Advances the clock between the calls of a worker, and notifies the history. Waits in steps: no call blocks.
// Used by the worker's thread.
class ClockPlay {
 public:
  ClockPlay(Worker& worker, LiveCounters& live, std::uint32_t calls_of_clock)
      : worker_(worker), live_(live), calls_of_clock_(calls_of_clock) {}

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
    WorkerCore::end_clock(worker_.core().seat());
  }

 private:
  Worker& worker_;
  LiveCounters& live_;
  const std::uint32_t calls_of_clock_;
  bool advances_ = false;
  bool ended_ = false;
};

}  // namespace lapse::test
