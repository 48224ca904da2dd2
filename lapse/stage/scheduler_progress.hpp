// How far the tasks of a scheduler are, for checkpoints.
#pragma once

#include <boost/serialization/string.hpp>
#include <boost/serialization/utility.hpp>
#include <boost/serialization/vector.hpp>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lapse/stage/parallelism_tuner.hpp"
#include "lapse/stage/placement.hpp"
#include "lapse/stage/task_result.hpp"
#include "lapse/stage/task_spec.hpp"

namespace lapse::stage {

struct TaskProgress {
  TaskResult result;
  std::uint64_t epoch = 0;
  std::uint32_t stage = 0;
  std::uint64_t next_iteration = 0;
  PlacementHistory history;
  std::uint64_t rotate_every = 1;         // parts that stay on a rank before the next has its turn
  std::vector<double> iteration_seconds;  // by stage; 0: not measured

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& result& epoch& stage& next_iteration& history& rotate_every& iteration_seconds;
  }
};

struct TunerProgress {
  std::string key;
  std::uint64_t max_workers = 1;
  ParallelismTuner::State state;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& key& max_workers& state;
  }
};

struct SchedulerProgress {
  static constexpr std::uint32_t kFormat = 1;

  std::uint32_t format = kFormat;
  std::vector<std::pair<TaskSpec, TaskProgress>> tasks;
  std::vector<TunerProgress> tuners;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& format& tasks& tuners;
  }
};

}  // namespace lapse::stage
