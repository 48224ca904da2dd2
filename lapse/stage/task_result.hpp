// How tasks and runs have ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse::stage {

enum class TaskState : std::uint8_t {
  waiting,    // for the tasks that it follows
  ready,      // for slots
  running,    // its workers have slots
  done,       // all its stages have ended
  failed,     // a worker has thrown
  cancelled,  // by a call, or because a task that it follows has not been done
};

// What all runs of a stage took together.
struct StageResult {
  std::string name;
  std::uint64_t parts = 0;       // of the stage, each with a group of workers of its own
  std::uint64_t iterations = 0;  // 0 for a stage without iterations
  double seconds = 0;            // from the first seat to the last worker's return, added up
  double worker_seconds = 0;     // the same times the workers
  std::uint32_t workers = 0;     // of the last part

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& name& parts& iterations& seconds& worker_seconds& workers;
  }
};

struct TaskResult {
  TaskState state = TaskState::waiting;
  std::int32_t origin = 0;   // of a failure: the rank
  std::string text;          // why the task has failed or is cancelled
  std::uint64_t epochs = 0;  // that have ended: repetitions of all stages
  std::vector<StageResult> stages;

  bool has_ended() const { return state >= TaskState::done; }

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& state& origin& text& epochs& stages;
  }
};

// How a run has ended.
enum class RunEnd : std::uint8_t {
  finished,        // all tasks have ended
  paused,          // tasks are left, and EngineOptions::run_time is over: the next run continues them
  stop_requested,  // tasks are left, and the job is to stop
};

}  // namespace lapse::stage
