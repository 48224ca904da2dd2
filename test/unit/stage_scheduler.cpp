// The scheduler's rules, one case each.
#include "lapse/stage/scheduler.hpp"

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/stage_play.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::stage::test::Play;
using lapse::stage::test::slots_of;
using lapse::stage::test::stage_of;
using lapse::stage::test::task_of;

namespace {

std::vector<std::int32_t> ranks_of(const SeatPart& part) {
  std::vector<std::int32_t> ranks;
  for (const SlotsOfRank& place : part.places) ranks.push_back(place.rank);
  return ranks;
}

}  // namespace

TEST_CASE("Stages of a task follow each other, and its epochs") {
  Play play(slots_of({1, 1}));
  TaskSpec spec = task_of("two", {stage_of("full", all_slots()), stage_of("stochastic", 1)});
  spec.repeat = 2;
  const std::uint64_t task = play.add(spec);
  play.begin();
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    REQUIRE(play.part(task).workers() == 2);
    REQUIRE(play.part(task).epoch == epoch);
    play.end_part_of(task);
    REQUIRE(play.part(task).workers() == 1);
    REQUIRE_FALSE(play.has_ended());
    play.end_part_of(task);
  }
  REQUIRE(play.has_ended());
  REQUIRE_FALSE(play.stopped());
  REQUIRE(play.result(task).state == TaskState::done);
  REQUIRE(play.result(task).epochs == 2);
  REQUIRE(play.result(task).stages[0].parts == 2);
}

TEST_CASE("A task begins when those that it follows are done") {
  Play play(slots_of({4}));
  const std::uint64_t first = play.add(task_of("first", {stage_of("a", 1)}));
  const std::uint64_t second = play.add(task_of("second", {stage_of("a", 1)}));
  const std::uint64_t third = play.add(task_of("third", {stage_of("a", 1)}, {first, second}));
  play.begin();
  REQUIRE(play.runs(first));
  REQUIRE(play.runs(second));
  play.end_part_of(second);
  REQUIRE_FALSE(play.runs(third));
  play.end_part_of(first);
  REQUIRE(play.runs(third));
}

TEST_CASE("A failure ends its task and cancels what follows it, and nothing else") {
  Play play(slots_of({4}));
  const std::uint64_t failing = play.add(task_of("failing", {stage_of("a", 1), stage_of("b", 1)}));
  const std::uint64_t beside = play.add(task_of("beside", {stage_of("a", 1)}));
  const std::uint64_t after = play.add(task_of("after", {stage_of("a", 1)}, {failing}));
  const std::uint64_t last = play.add(task_of("last", {stage_of("a", 1)}, {after}));
  play.begin();
  play.fail(play.part(failing).group, "no file");
  REQUIRE(play.result(failing).state == TaskState::failed);
  REQUIRE(play.result(failing).text == "no file");
  REQUIRE(play.result(after).state == TaskState::cancelled);
  REQUIRE(play.result(after).text == "task 'failing', which it follows, has failed: no file");
  REQUIRE(play.result(last).text == "task 'after', which it follows, is cancelled");
  REQUIRE(play.runs(beside));
  play.end_part_of(beside);
  REQUIRE(play.has_ended());
  REQUIRE(play.result(beside).state == TaskState::done);
}

TEST_CASE("A cancelled task ends its part; one that does not run ends at once") {
  Play play(slots_of({1}));
  const std::uint64_t first = play.add(task_of("first", {stage_of("a", 1)}));
  const std::uint64_t second = play.add(task_of("second", {stage_of("a", 1)}));
  play.begin();
  play.on(CancelTask{.task = second});
  REQUIRE(play.result(second).state == TaskState::cancelled);
  const GroupNumber group = play.part(first).group;
  play.on(CancelTask{.task = first});
  REQUIRE(play.aborted() == std::vector<GroupNumber>{group});
  REQUIRE(play.result(first).state == TaskState::running);
  play.fail(group, "cancelled");
  REQUIRE(play.result(first).state == TaskState::cancelled);
  REQUIRE(play.has_ended());
}

TEST_CASE("A worker can end its task early") {
  Play play(slots_of({1}));
  TaskSpec spec = task_of("long", {stage_of("a", 1), stage_of("b", 1)});
  spec.repeat = 1000;
  const std::uint64_t task = play.add(spec);
  play.begin();
  play.on(PartEnd{.group = play.part(task).group, .failure = {}, .ends_task = true});
  REQUIRE(play.result(task).state == TaskState::done);
  REQUIRE(play.result(task).epochs == 0);
  REQUIRE(play.has_ended());
}

TEST_CASE("Higher priorities come first, then lower numbers of tasks") {
  Play play(slots_of({1}));
  const std::uint64_t low = play.add(task_of("low", {stage_of("a", 1, 0, 0)}));
  const std::uint64_t equal = play.add(task_of("equal", {stage_of("a", 1, 0, 0)}));
  const std::uint64_t high = play.add(task_of("high", {stage_of("a", 1, 0, 2)}));
  play.begin();
  for (const std::uint64_t task : {high, low, equal}) {
    REQUIRE(play.runs(task));
    play.end_part_of(task);
  }
  REQUIRE(play.has_ended());
}

TEST_CASE("A smaller stage passes one that does not fit now") {
  Play play(slots_of({3}));
  const std::uint64_t running = play.add(task_of("running", {stage_of("a", 2)}));
  const std::uint64_t wide = play.add(task_of("wide", {stage_of("a", 3)}));
  const std::uint64_t narrow = play.add(task_of("narrow", {stage_of("a", 1)}));
  play.begin();
  REQUIRE(play.runs(running));
  REQUIRE_FALSE(play.runs(wide));
  REQUIRE(play.runs(narrow));
}

TEST_CASE("Given places are obeyed") {
  Play play(slots_of({2, 2, 2}));
  const std::uint64_t first = play.add(task_of("first", {stage_of("a", {{.rank = 2, .workers = 2}})}));
  const std::uint64_t second =
      play.add(task_of("second", {stage_of("a", {{.rank = 2, .workers = 1}, {.rank = 0, .workers = 1}})}));
  play.begin();
  REQUIRE(ranks_of(play.part(first)) == std::vector<std::int32_t>{2});
  REQUIRE_FALSE(play.runs(second));
  play.end_part_of(first);
  REQUIRE(ranks_of(play.part(second)) == std::vector<std::int32_t>{0, 2});
}

TEST_CASE("Parts of a stage take about the time of a part") {
  Play play(slots_of({2}));
  const std::uint64_t task = play.add(task_of("long", {stage_of("a", 2, 1000)}));
  play.begin();
  REQUIRE(play.part(task).end_iteration == 10);  // at first, when nothing is measured
  play.end_part_of(task, 0.001);
  REQUIRE(play.part(task).first_iteration == 10);
  REQUIRE(play.part(task).end_iteration == 210);
  play.end_part_of(task, 1.0);
  REQUIRE(play.part(task).end_iteration == 220);  // not below 10
  play.end_part_of(task, 1e-9);
  REQUIRE(play.part(task).end_iteration == 1000);
  play.end_part_of(task);
  REQUIRE(play.has_ended());
  REQUIRE(play.result(task).stages[0].iterations == 1000);
}

TEST_CASE("An automatic stage finds the number of workers with the shortest iterations") {
  Play play(slots_of({8, 8}));
  const std::uint64_t task = play.add(task_of("tuned", {stage_of("a", automatic(), 4000)}));
  play.begin();
  std::uint64_t searched = 0;
  while (!play.has_ended()) {
    const SeatPart part = play.part(task);
    const double workers = static_cast<double>(part.workers());
    if (part.end_iteration - part.first_iteration == 10) searched += 10;
    play.wait(std::chrono::milliseconds(10));
    play.end(part.group, 0.001 / workers + 0.0001 * workers);  // least at 3.2 workers
  }
  REQUIRE(play.result(task).stages[0].workers == 3);
  REQUIRE(searched <= 80);
}

TEST_CASE("A short automatic stage is not searched") {
  Play play(slots_of({2, 3}));
  const std::uint64_t task = play.add(task_of("short", {stage_of("a", automatic(), 20)}));
  play.begin();
  REQUIRE(play.part(task).workers() == 3);
}

TEST_CASE("A stopped run keeps what is left, for the next run") {
  Play play(slots_of({1}));
  TaskSpec spec = task_of("left", {stage_of("a", 1), stage_of("b", 1)});
  spec.repeat = 3;
  const std::uint64_t task = play.add(spec);
  play.begin();
  play.end_part_of(task);
  play.on(StopRun{});
  REQUIRE_FALSE(play.has_ended());
  play.end_part_of(task);
  REQUIRE(play.has_ended());
  REQUIRE(play.stopped());
  play.begin();
  REQUIRE(play.part(task).epoch == 1);
  REQUIRE(play.part(task).stage == 0);
}

TEST_CASE("Without times, stages run whole and in the slots of one rank") {
  SchedulerSettings settings;
  settings.deterministic = true;
  Play play(slots_of({2, 3}), settings);
  const std::uint64_t task = play.add(task_of("tuned", {stage_of("a", automatic(), 5000)}));
  play.begin();
  REQUIRE(play.part(task).workers() == 3);
  REQUIRE(play.part(task).end_iteration == 5000);
}

TEST_CASE("Without times, waiting does not raise a priority") {
  SchedulerSettings settings;
  settings.deterministic = true;
  Play play(slots_of({1}), settings);
  TaskSpec important = task_of("important", {stage_of("a", 1, 0, 1)});
  important.repeat = 20;
  const std::uint64_t modest = play.add(task_of("modest", {stage_of("a", 1)}));
  const std::uint64_t first = play.add(important);
  play.begin();
  for (int step = 0; step < 20; ++step) {
    REQUIRE_FALSE(play.runs(modest));
    play.wait(std::chrono::seconds(1));
    play.end_part_of(first);
  }
  REQUIRE(play.runs(modest));
}

TEST_CASE("The scheduler refuses the end of a part that is not in progress") {
  Play play(slots_of({1}));
  play.add(task_of("only", {stage_of("a", 1)}));
  play.begin();
  REQUIRE_THROWS_AS(play.scheduler().on(PartEnd{.group = 7, .failure = {}}, Time{}), ProtocolError);
  REQUIRE_THROWS_AS(play.scheduler().on(CancelTask{.task = 1}, Time{}), ProtocolError);
}

TEST_CASE("A run without tasks ends at once") {
  Play play(slots_of({1}));
  play.begin();
  REQUIRE(play.has_ended());
}
