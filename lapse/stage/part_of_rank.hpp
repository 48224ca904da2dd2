// A part of a stage, as one rank runs it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/ps/worker.hpp"
#include "lapse/stage/scheduler_events.hpp"
#include "lapse/stage/task.hpp"

namespace lapse::stage {

class Info;
class StageRunner;

// Thread safety: run by the workers' threads; measured when they have left.
class PartOfRank {
 public:
  // What the workers have measured: of the slowest.
  struct Measured {
    double iteration_seconds = 0;
    double preparation_seconds = 0;
    bool ends_task = false;
  };

  // `task` lives as long as the runner; `slots`: of this rank's workers.
  PartOfRank(StageRunner& runner, const Task& task, SeatPart seat, std::vector<std::uint32_t> slots)
      : runner_(runner), task_(task), seat_(std::move(seat)), slots_(std::move(slots)) {}

  // The work of one of this rank's workers.
  void run(Worker& worker);
  Measured measured() const;

  const SeatPart& seat() const { return seat_; }
  StageRunner& runner() const { return runner_; }
  void end_task() { ends_task_.store(true, std::memory_order_relaxed); }

 private:
  // Localizes this worker's part of the keys.
  void prepare(Worker& worker) const;

  StageRunner& runner_;
  const Task& task_;
  const SeatPart seat_;
  const std::vector<std::uint32_t> slots_;
  std::atomic<bool> ends_task_{false};
  mutable Mutex mutex_;
  Measured measured_ LAPSE_GUARDED_BY(mutex_);
};

}  // namespace lapse::stage
