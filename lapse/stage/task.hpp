// Tasks of stages, as an engine is given them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lapse/ps/table.hpp"
#include "lapse/stage/workers.hpp"

namespace lapse::stage {

class Info;

// A task of an engine: tasks are numbered in the order of their submission.
struct TaskId {
  std::uint64_t number = 0;
  bool operator==(const TaskId&) const = default;
};

// How the parameters of a stage's tables get to its workers.
enum class Prepare : std::uint8_t {
  none,      // by the function's own calls
  integral,  // before the function is called, the workers localize all keys, each an equal part
};

struct Stage {
  std::string name = {};  // unique in the task
  std::function<void(Info&)> f = {};
  Workers workers = automatic();
  // 0: none, f runs once. Otherwise the stage runs in parts, and Info::iterations() gives f those of a part.
  std::uint64_t iterations = 0;
  double priority = 0;
  Prepare prepare = Prepare::none;
};

struct Task {
  std::string name = {};  // tasks of equal names share what was found out about automatic stages
  std::vector<TableHandle> tables = {};  // dense ones are what Prepare::integral localizes
  std::vector<TaskId> after = {};        // the task waits until these are done
  std::uint64_t repeat = 1;              // how often all stages run, one after the other
  std::uint64_t data_bytes = 0;          // size of the task's data on this rank; workers go where data are
  std::vector<Stage> stages = {};
};

}  // namespace lapse::stage
