#include "lapse/stage/scheduler_progress.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/stage/scheduler.hpp"

namespace lapse::stage {

namespace {

// Throws ProtocolError.
void check(const TaskProgress& progress, const TaskSpec& spec) {
  const std::size_t stages = spec.stages.size();
  if (progress.stage < stages && progress.iteration_seconds.size() == stages &&
      progress.result.stages.size() == stages && progress.rotate_every > 0 &&
      progress.next_iteration <= spec.stages[progress.stage].iterations)
    return;
  throw ProtocolError(fmt::format("the progress of task '{}' is damaged", spec.name));
}

}  // namespace

SchedulerProgress Scheduler::progress() const {
  SchedulerProgress progress;
  for (const Task& task : tasks_) progress.tasks.emplace_back(task.spec, task);
  for (const auto& [key, tuner] : tuners_)
    progress.tuners.push_back({.key = key, .max_workers = tuner.max_workers(), .state = tuner.state()});
  return progress;
}

void Scheduler::resume(const SchedulerProgress& progress) {
  if (progress.format != SchedulerProgress::kFormat) {
    throw CollectiveMismatch(fmt::format("the progress of an engine has format {}: expected {}",
                                         progress.format, SchedulerProgress::kFormat));
  }
  if (progress.tasks.size() > tasks_.size()) {
    throw CollectiveMismatch(fmt::format("the progress of an engine is that of {} tasks: {} were submitted",
                                         progress.tasks.size(), tasks_.size()));
  }
  for (std::size_t number = 0; number < progress.tasks.size(); ++number) {
    TaskSpec saved = progress.tasks[number].first;
    saved.data_bytes = tasks_[number].spec.data_bytes;  // may be on other ranks now
    if (saved == tasks_[number].spec) {
      check(progress.tasks[number].second, saved);
      continue;
    }
    throw CollectiveMismatch(
        fmt::format("the progress of an engine has task '{}' as number {}, where task '{}' was submitted: "
                    "expected equal names, stages, workers, iterations and predecessors",
                    saved.name, number, tasks_[number].spec.name));
  }
  std::map<std::string, ParallelismTuner> tuners;
  for (const TunerProgress& saved : progress.tuners) {
    tuners.emplace(saved.key, ParallelismTuner(saved.max_workers, saved.state));
  }
  for (std::size_t number = 0; number < progress.tasks.size(); ++number) {
    Task& task = tasks_[number];
    static_cast<TaskProgress&>(task) = progress.tasks[number].second;
    if (!task.result.has_ended()) task.result.state = TaskState::waiting;
  }
  tuners.merge(tuners_);  // of further tasks
  tuners_ = std::move(tuners);
}

}  // namespace lapse::stage
