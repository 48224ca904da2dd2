#include "lapse/stage/task_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "lapse/core/limits.hpp"

namespace lapse::stage {

namespace {

constexpr std::int32_t kMaxWorkers = 4096;  // as ParameterServer::kMaxWorkers

std::optional<std::string> defect_of(const StageSpec& stage, std::int32_t ranks) {
  const Workers& workers = stage.workers;
  if (!stage.has_function) return "has no function";
  if (workers.kind() == Workers::Kind::automatic && stage.iterations == 0)
    return "has automatic workers and no iterations: the number of workers is found by their times";
  if (workers.kind() == Workers::Kind::number && (workers.number() < 1 || workers.number() > kMaxWorkers))
    return fmt::format("has {} workers: expected 1 to {}", workers.number(), kMaxWorkers);
  if (!std::isfinite(stage.priority)) return fmt::format("has the priority {}", stage.priority);
  if (workers.kind() != Workers::Kind::places) return std::nullopt;
  if (workers.places().empty()) return "has an empty list of places";
  std::set<std::int32_t> seen;
  for (const Place& place : workers.places()) {
    if (place.rank < 0 || place.rank >= ranks)
      return fmt::format("has workers on rank {}: expected 0 to {}", place.rank, ranks - 1);
    if (place.workers < 1 || place.workers > kMaxWorkers)
      return fmt::format("has {} workers on rank {}: expected 1 to {}", place.workers, place.rank,
                         kMaxWorkers);
    if (!seen.insert(place.rank).second) return fmt::format("has two places on rank {}", place.rank);
  }
  return std::nullopt;
}

}  // namespace

std::size_t RunSlots::total() const {
  return std::accumulate(slots.begin(), slots.end(), std::size_t{0});
}

std::optional<std::string> misfit(const TaskSpec& task, const RunSlots& slots) {
  for (const StageSpec& stage : task.stages) {
    const Workers& workers = stage.workers;
    if (workers.kind() == Workers::Kind::number &&
        static_cast<std::size_t>(workers.number()) > slots.total()) {
      return fmt::format("stage '{}' of task '{}' needs {} workers, the run has {} slots", stage.name,
                         task.name, workers.number(), slots.total());
    }
    for (const Place& place : workers.places()) {
      const std::size_t there = slots.slots.at(static_cast<std::size_t>(place.rank));
      if (static_cast<std::size_t>(place.workers) > there) {
        return fmt::format("stage '{}' of task '{}' needs {} workers on rank {}, which has {} slots",
                           stage.name, task.name, place.workers, place.rank, there);
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> defect(const TaskSpec& task, std::uint64_t earlier, std::int32_t ranks) {
  if (task.stages.empty()) return fmt::format("task '{}' has no stages", task.name);
  if (task.repeat == 0) return fmt::format("task '{}' is repeated 0 times: expected 1 at least", task.name);
  for (const std::uint64_t before : task.after) {
    if (before >= earlier)
      return fmt::format("task '{}' is to follow task {}, which was not submitted before it: {} were",
                         task.name, before, earlier);
  }
  std::set<std::string> names;
  for (const StageSpec& stage : task.stages) {
    if (!names.insert(stage.name).second)
      return fmt::format("task '{}' has two stages with the name '{}'", task.name, stage.name);
    if (const auto problem = defect_of(stage, ranks))
      return fmt::format("stage '{}' of task '{}' {}", stage.name, task.name, *problem);
  }
  return std::nullopt;
}

}  // namespace lapse::stage
