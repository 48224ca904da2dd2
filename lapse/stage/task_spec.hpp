// What the scheduler has to know about a task: everything except its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/types.hpp"
#include "lapse/stage/workers.hpp"

namespace lapse::stage {

struct StageSpec {
  std::string name;
  Workers workers = automatic();
  std::uint64_t iterations = 0;  // 0: the stage has none
  double priority = 0;
  bool has_function = true;
  bool operator==(const StageSpec&) const = default;

  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& name& workers& iterations& priority;
  }
};

struct TaskSpec {
  std::string name;
  std::vector<std::uint64_t> after;  // numbers of tasks
  std::uint64_t repeat = 1;
  std::vector<StageSpec> stages;
  std::vector<std::uint64_t> data_bytes;  // by rank; empty: the task has no data
  bool operator==(const TaskSpec&) const = default;

  // data_bytes differ by rank and are exchanged on their own.
  template <class Archive>
  void serialize(Archive& archive, unsigned int) {
    archive& name& after& repeat& stages;
  }
};

// The slots of a run.
struct RunSlots {
  std::vector<std::size_t> slots;     // by rank
  std::vector<std::int32_t> domains;  // by rank: a number, equal for ranks that share memory
  std::size_t processors = 0;         // of all hosts; automatic stages have no more workers

  std::size_t total() const;
};

// Returns why no run with these slots can ever begin a stage of the task; nullopt if there is no reason.
std::optional<std::string> misfit(const TaskSpec& task, const RunSlots& slots);

// Returns why no run can: numbers, names and places that no slots could satisfy. `earlier`: the number of
// tasks that were submitted before.
std::optional<std::string> defect(const TaskSpec& task, std::uint64_t earlier, std::int32_t ranks);

}  // namespace lapse::stage
