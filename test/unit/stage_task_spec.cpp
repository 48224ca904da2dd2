// What is refused before a run.
#include "lapse/stage/task_spec.hpp"

#include <limits>

#include "test/support/catch.hpp"
#include "test/unit/stage_play.hpp"

using namespace lapse::stage;
using lapse::stage::test::slots_of;
using lapse::stage::test::stage_of;
using lapse::stage::test::task_of;

namespace {

std::string defect_of(const StageSpec& stage) {
  return defect(task_of("svrg", {stage}), 0, 2).value_or("none");
}

}  // namespace

TEST_CASE("Impossible stages are refused with their names") {
  REQUIRE(defect_of(stage_of("a", 1)) == "none");
  REQUIRE(defect_of(stage_of("a", automatic(), 1)) == "none");
  REQUIRE(defect_of(stage_of("a", all_slots())) == "none");
  REQUIRE(defect_of(stage_of("a", {{0, 1}, {1, 1}})) == "none");
  REQUIRE(defect_of(stage_of("full", automatic())) ==
          "stage 'full' of task 'svrg' has automatic workers and no iterations: the number of workers is "
          "found by their times");
  REQUIRE(defect_of(stage_of("a", 0)) == "stage 'a' of task 'svrg' has 0 workers: expected 1 to 4096");
  REQUIRE(defect_of(stage_of("a", -3)) == "stage 'a' of task 'svrg' has -3 workers: expected 1 to 4096");
  REQUIRE(defect_of(stage_of("a", {{2, 1}})) ==
          "stage 'a' of task 'svrg' has workers on rank 2: expected 0 to 1");
  REQUIRE(defect_of(stage_of("a", {{-1, 1}})) ==
          "stage 'a' of task 'svrg' has workers on rank -1: expected 0 to 1");
  REQUIRE(defect_of(stage_of("a", {{1, 0}})) ==
          "stage 'a' of task 'svrg' has 0 workers on rank 1: expected 1 to 4096");
  REQUIRE(defect_of(stage_of("a", {{1, 1}, {1, 2}})) == "stage 'a' of task 'svrg' has two places on rank 1");
  REQUIRE(defect_of(stage_of("a", Workers(std::vector<Place>{}))) ==
          "stage 'a' of task 'svrg' has an empty list of places");
  REQUIRE(defect_of(stage_of("a", 1, 0, std::numeric_limits<double>::quiet_NaN())) ==
          "stage 'a' of task 'svrg' has the priority nan");
}

TEST_CASE("Impossible tasks are refused") {
  REQUIRE(defect(task_of("empty", {}), 0, 1) == "task 'empty' has no stages");
  REQUIRE(defect(task_of("t", {stage_of("a", 1), stage_of("a", 2)}), 0, 1) ==
          "task 't' has two stages with the name 'a'");
  TaskSpec never = task_of("never", {stage_of("a", 1)});
  never.repeat = 0;
  REQUIRE(defect(never, 0, 1) == "task 'never' is repeated 0 times: expected 1 at least");
  // No task follows itself or a later one, so there are no cycles.
  const TaskSpec after = task_of("after", {stage_of("a", 1)}, {0, 2});
  REQUIRE(defect(after, 3, 1) == std::nullopt);
  REQUIRE(defect(after, 2, 1) ==
          "task 'after' is to follow task 2, which was not submitted before it: 2 were");
}

TEST_CASE("Stages that do not fit the slots of a run are refused") {
  const RunSlots slots = slots_of({2, 0, 4});
  REQUIRE_FALSE(misfit(task_of("t", {stage_of("a", 6), stage_of("b", {{2, 4}, {0, 2}})}), slots));
  REQUIRE(misfit(task_of("svrg", {stage_of("a", 1), stage_of("full", 7)}), slots) ==
          "stage 'full' of task 'svrg' needs 7 workers, the run has 6 slots");
  REQUIRE(misfit(task_of("svrg", {stage_of("full", {{1, 1}})}), slots) ==
          "stage 'full' of task 'svrg' needs 1 workers on rank 1, which has 0 slots");
}
