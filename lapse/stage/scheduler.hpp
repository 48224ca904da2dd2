// Decides which parts of stages run, when, and in which slots (FlexPS, section 5.2).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lapse/stage/parallelism_tuner.hpp"
#include "lapse/stage/placement.hpp"
#include "lapse/stage/scheduler_events.hpp"
#include "lapse/stage/scheduler_progress.hpp"

namespace lapse::stage {

struct SchedulerSettings {
  // A stage that waits rises by 1 in priority in this time.
  std::chrono::nanoseconds aging = std::chrono::seconds(1);
  // With this priority it gets slots before all others: they are kept for it as they get free.
  double starving = 10;
  // About how long a part of a stage with iterations takes; 0: the whole stage.
  std::chrono::nanoseconds part_time = std::chrono::milliseconds(200);
  // How many iterations a part has at least, and while the number of workers is searched for.
  std::uint64_t min_iterations = 10;
  // Decisions do not depend on times: stages run whole, priorities do not rise, automatic stages take the
  // slots of one rank.
  bool deterministic = false;
};

// A state machine without threads, messages and clocks: equal events at equal times have equal effects.
//
// A *part* of a stage is some of its iterations, which follow each other, or a stage without iterations.
// Parts of a task never overlap; tasks do. Guarantees:
// 1. A slot is in one group at a time, from the part's SeatPart to its PartEnd.
// 2. Each iteration of a stage is in one part, in order; a task's parts follow its stages and epochs.
// 3. A part that fits the run begins after finitely many PartEnds (unless deterministic: priorities do not
//    rise then).
// 4. A task ends once. What follows a task that is not done is cancelled.
class Scheduler {
 public:
  explicit Scheduler(const SchedulerSettings& settings = {}) : settings_(settings) {}

  // Returns the task's number: 0, 1, ... Requires no defect(). Between runs.
  std::uint64_t add(TaskSpec added);
  // What the event leads to, in order. RunBegin: requires no misfit() of the tasks that have not ended.
  // Throws ProtocolError for a group that is not in progress.
  std::vector<Effect> on(const Event& event, Time now);

  std::uint64_t tasks() const { return tasks_.size(); }
  // Between runs. A scheduler to which equal tasks were added continues them from here, on any slots.
  SchedulerProgress progress() const;
  // Throws, and changes nothing: CollectiveMismatch unless these are the first tasks of this scheduler,
  // ProtocolError for what no scheduler has written.
  void resume(const SchedulerProgress& progress);

  const TaskSpec& spec(std::uint64_t task) const { return tasks_.at(task).spec; }
  const TaskResult& result(std::uint64_t task) const { return tasks_.at(task).result; }

 private:
  struct Task : TaskProgress {
    TaskSpec spec;
    Time ready_since{};
    bool cancel_requested = false;
  };
  struct Part {
    SeatPart seat;
    Time began{};
  };
  // The slots that are kept for the first starving task.
  struct Lock {
    std::uint64_t task;
    std::vector<Place> places;
  };
  using Effects = std::vector<Effect>;

  // --- events
  void handle(const RunBegin& event, Time now, Effects& effects);
  void handle(const PartEnd& event, Time now, Effects& effects);
  void handle(const CancelTask& event, Time now, Effects& effects);
  void handle(const StopRun& event, Time now, Effects& effects);
  void count_part(Task& task, const Part& part, const PartEnd& end, Time now);
  // To the task's next part. Returns false if there is none.
  bool advance(Task& task);
  void end_task(std::uint64_t number, TaskState state, std::int32_t origin, const std::string& text,
                Effects& effects);
  // Tasks whose predecessors have ended become ready, or are cancelled.
  void release_tasks(Time now, Effects& effects);

  // --- decisions
  void seat_ready(Time now, Effects& effects);
  double priority(const Task& task, Time now) const;
  void list_starving(Time now);
  // Seats the first starving task, or locks slots for it. Returns false if it must wait.
  bool seat_first_starving(Time now, Effects& effects);
  // Ready tasks except the one that has a lock, in the order of decisions.
  std::vector<std::uint64_t> others(Time now) const;
  std::vector<RankCapacity> capacities(bool all_free) const;
  std::optional<std::vector<Place>> places_of(const Task& task, const std::vector<RankCapacity>& ranks);
  std::size_t workers_of(const Task& task);
  std::uint64_t iterations_of_part(const Task& task);
  void seat(std::uint64_t number, const std::vector<Place>& places, Time now, Effects& effects);

  // --- automatic numbers of workers
  const StageSpec& stage_of(const Task& task) const { return task.spec.stages[task.stage]; }
  bool is_tuned(const Task& task) const;
  ParallelismTuner& tuner_of(const Task& task);

  const SchedulerSettings settings_;
  std::vector<Task> tasks_;
  std::map<std::string, ParallelismTuner> tuners_;  // by names of task and stage, and the highest number
  // of a run
  RunSlots run_;
  std::vector<std::vector<GroupNumber>> slots_;  // by rank and slot: the group; 0 if the slot is free
  std::map<GroupNumber, Part> parts_;            // in progress
  std::vector<std::uint64_t> starving_;          // tasks, first come
  std::optional<Lock> lock_;
  GroupNumber next_group_ = 1;
  bool is_running_ = false;
  bool is_stopping_ = false;
};

}  // namespace lapse::stage
