// Runs tasks of stages on a parameter server, each stage with its own number of workers.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/stage/info.hpp"
#include "lapse/stage/task.hpp"
#include "lapse/stage/task_result.hpp"

namespace lapse::stage {

struct EngineOptions {
  // Of this rank: how many workers it can have at a time. 0 is allowed, except on all ranks.
  std::int32_t slots = 1;
  // A stage that waits for slots rises by 1 in priority in this time ...
  std::chrono::nanoseconds aging = std::chrono::seconds(1);
  // ... and with this priority, slots are kept for it as they get free.
  double starving = 10;
  // About how long a part of a stage with iterations takes. 0: stages run whole.
  std::chrono::nanoseconds part_time = std::chrono::milliseconds(200);
  // How many iterations a part has at least, and while the number of workers is searched for.
  std::uint64_t min_iterations = 10;
  // Decisions do not depend on times: stages run whole, priorities do not rise, automatic stages take the
  // slots of one rank.
  bool deterministic = false;
  // A run ends after about this time, when the parts in progress have: for checkpoints. 0: it does not.
  std::chrono::nanoseconds run_time{0};
  std::uint64_t seed = 0;  // of Info::random
  // Rank 0 writes a line of JSON for each part of a stage to this file (docs/stages.md); empty: none.
  std::string trace = {};
};

// Thrown by submit_and_wait if the task is not done.
class LAPSE_EXPORT TaskFailed : public Error {
 public:
  TaskFailed(const std::string& task, const TaskResult& result);
  const TaskResult& result() const { return result_; }

 private:
  TaskResult result_;
};

// Tasks run at the same time, stages of a task one after the other. When a stage ends, everything that its
// workers have done has taken effect for the workers of the next one. A worker that throws ends its task, and
// what follows the task is cancelled; other tasks do not notice. See docs/stages.md; FlexPS (VLDB 2018),
// sections 4 and 5.
//
// Thread safety: as the server; cancel: any thread.
class LAPSE_EXPORT Engine {
 public:
  // Collective. The server outlives the engine. Throws UsageError for impossible options or if no rank has
  // slots, CollectiveMismatch if the ranks differ in more than their slots.
  Engine(ParameterServer& server, const EngineOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Collective, between runs. Every rank submits an equal task, with functions and data of its own. Throws
  // UsageError on every rank for a task that cannot run; CollectiveMismatch if the ranks submit different
  // tasks.
  TaskId submit(Task task);
  // Collective. Runs the tasks that have not ended, until they have, or until the job is to stop. Throws, on
  // every rank: UsageError if a stage needs more slots than there are; PeerFailed if a rank fails, after
  // which the server supports only statistics and close; MpiStateError if MPI was initialised with
  // MPI_THREAD_SINGLE.
  RunEnd run();
  // Between runs; equal on all ranks. Throws UsageError for a task of another engine.
  const TaskResult& result(TaskId task) const;
  // Collective, between runs: submit, run, result. Other tasks that have not ended run, too. Throws
  // TaskFailed on every rank if the task is not done, unless the job is to stop.
  TaskResult submit_and_wait(Task task);
  // Collective, between runs. How far the tasks are, for CheckpointContent::global: rank 0 gets some bytes,
  // the others none. Together with a checkpoint of the tables, a later job can continue from here.
  std::string progress();
  // Collective, between runs, after equal tasks were submitted, possibly on other ranks and with other slots:
  // continues as LoadedCheckpoint::global says, which is what progress() has returned on rank 0. Objects of
  // Info::local are made anew. Throws on every rank: CollectiveMismatch if other tasks were submitted or the
  // bytes differ by rank, ProtocolError if progress() has not written them.
  void resume(const std::string& progress);
  // Any thread of any rank, at any time. The task ends, and its workers fail at their next access or wait.
  // During a run soon, otherwise in the next run. Throws UsageError for a task of another engine.
  void cancel(TaskId task);

 private:
  class LAPSE_HIDDEN Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapse::stage
