// A file about the parts of stages that have run.
#pragma once

#include <fstream>
#include <string>

#include "lapse/stage/scheduler_events.hpp"

namespace lapse::stage {

// One line for each part, when it has ended: an object of JSON with the names of task and stage ("task",
// "stage"), the number of the task ("number"), "epoch", the iterations from "first" to before "end", "group",
// "places" (a list of [rank, slots]), "priority" and whether the stage was "starving" when it got its slots,
// its time from "begin" to "stop" in seconds since the engine was made, and its "outcome": "done", or why it
// has failed.
//
// Thread safety: one thread at a time.
class StageTrace {
 public:
  // An empty path: nothing is written. Throws FileError.
  explicit StageTrace(const std::string& path);

  void add(const TaskSpec& task, const SeatPart& part, const PartEnd& end, Time begin, Time stop);

 private:
  const std::string path_;
  std::ofstream file_;
};

}  // namespace lapse::stage
