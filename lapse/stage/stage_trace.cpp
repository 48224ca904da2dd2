#include "lapse/stage/stage_trace.hpp"

#include <nlohmann/json.hpp>

#include "lapse/core/file_error.hpp"

namespace lapse::stage {

namespace {

double seconds(Time time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

StageTrace::StageTrace(const std::string& path) : path_(path) {
  if (path_.empty()) return;
  file_.open(path_);
  if (!file_) throw FileError(path_, "cannot be written, for the trace of stages");
}

void StageTrace::add(const TaskSpec& task, const SeatPart& part, const PartEnd& end, Time begin, Time stop) {
  if (path_.empty()) return;
  nlohmann::ordered_json line;
  line["task"] = task.name;
  line["number"] = part.task;
  line["stage"] = task.stages[part.stage].name;
  line["epoch"] = part.epoch;
  line["first"] = part.first_iteration;
  line["end"] = part.end_iteration;
  line["group"] = part.group;
  line["places"] = nlohmann::ordered_json::array();
  for (const SlotsOfRank& place : part.places) line["places"].push_back({place.rank, place.slots});
  line["priority"] = part.priority;
  line["starving"] = part.is_starving;
  line["begin"] = seconds(begin);
  line["stop"] = seconds(stop);
  line["outcome"] = end.failure ? end.failure->text : "done";
  // What the application has thrown may be no UTF-8.
  file_ << line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace lapse::stage
