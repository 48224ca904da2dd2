// What happens to the scheduler, and what it wants done.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/stage/task_result.hpp"
#include "lapse/stage/task_spec.hpp"

namespace lapse::stage {

// Since some fixed moment.
using Time = std::chrono::nanoseconds;

// --- events

struct RunBegin {
  RunSlots slots;
  GroupNumber first_group = 1;  // numbers of groups rise from here
  bool stops = false;           // at once, as by StopRun
};

struct TaskFailure {
  std::int32_t origin = 0;  // the rank
  std::string text;
};

// All workers of a group have returned and left their slots.
struct PartEnd {
  GroupNumber group = 0;
  std::optional<TaskFailure> failure;
  double iteration_seconds = 0;    // 0: not measured
  double preparation_seconds = 0;  // until the function was called, of the slowest worker
  bool ends_task = false;          // a worker has asked for the end of the task
};

struct CancelTask {
  std::uint64_t task = 0;
};

// No part begins any more; the run ends when those in progress have.
struct StopRun {};

using Event = std::variant<RunBegin, PartEnd, CancelTask, StopRun>;

// --- effects

struct SlotsOfRank {
  std::int32_t rank = 0;
  std::vector<std::uint32_t> slots;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& rank& slots;
  }
};

// A part of a stage begins: its workers take these slots.
struct SeatPart {
  GroupNumber group = 0;
  std::uint64_t task = 0;
  std::uint32_t stage = 0;
  std::uint64_t epoch = 0;
  std::uint64_t first_iteration = 0;
  std::uint64_t end_iteration = 0;  // equal: the stage has no iterations
  std::vector<SlotsOfRank> places;  // ascending
  // Why it got its slots now; known to the scheduler's rank only.
  double priority = 0;
  bool is_starving = false;

  std::size_t workers() const {
    std::size_t workers = 0;
    for (const SlotsOfRank& place : places) workers += place.slots.size();
    return workers;
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& group& task& stage& epoch& first_iteration& end_iteration& places;
  }
};

// The group's workers are to fail.
struct AbortPart {
  GroupNumber group = 0;
  std::int32_t rank = 0;  // one of the group's
};

struct TaskEnd {
  std::uint64_t task = 0;
  TaskResult result;
};

struct RunEnded {
  bool stopped = false;        // tasks are left
  GroupNumber next_group = 1;  // no higher number was used
};

using Effect = std::variant<SeatPart, AbortPart, TaskEnd, RunEnded>;

}  // namespace lapse::stage
