// Stages that wait get slots in the end.
#include <optional>

#include "lapse/stage/scheduler.hpp"
#include "test/support/catch.hpp"
#include "test/unit/stage_play.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::stage::test::Play;
using lapse::stage::test::slots_of;
using lapse::stage::test::stage_of;
using lapse::stage::test::task_of;
using std::chrono::milliseconds;

namespace {

// A task whose stages take all of this work, one part after the other.
TaskSpec stream(const std::string& name, Workers workers) {
  TaskSpec task = task_of(name, {stage_of("a", std::move(workers))});
  task.repeat = 100000;
  return task;
}

}  // namespace

TEST_CASE("Waiting raises the priority of a stage") {
  Play play(slots_of({1}));
  const std::uint64_t important = play.add(stream("important", Workers(1)));
  play.begin();
  const std::uint64_t modest = play.add(task_of("modest", {stage_of("a", 1)}));
  REQUIRE(play.runs(important));
  for (int step = 0; step < 3; ++step) {
    play.wait(milliseconds(10));
    play.end_part_of(important);
    if (play.runs(modest)) break;
  }
  // It has waited longer than the next part of the other task.
  REQUIRE(play.runs(modest));
}

TEST_CASE("Slots are kept for a starving stage that others would pass") {
  SchedulerSettings settings;
  settings.aging = milliseconds(100);
  Play play(slots_of({2}), settings);
  const std::uint64_t first = play.add(stream("first", Workers(1)));
  const std::uint64_t second = play.add(stream("second", Workers(1)));
  const std::uint64_t wide = play.add(task_of("wide", {stage_of("a", 2)}));
  play.begin();
  // The two never end at the same time, so that there are never two free slots.
  std::optional<Time> began;
  for (int step = 0; step < 400 && !began; ++step) {
    play.wait(milliseconds(5));
    const std::uint64_t task = step % 2 == 0 ? first : second;
    if (play.runs(task)) play.end_part_of(task);
    if (play.runs(wide)) began = play.now();
  }
  REQUIRE(began);
  // Starving after 10 steps of priority, then one part of each.
  REQUIRE(*began >= milliseconds(1000));
  REQUIRE(*began <= milliseconds(1020));
}

TEST_CASE("The kept slots are those of given places; others stay in use meanwhile") {
  SchedulerSettings settings;
  settings.aging = milliseconds(1);
  Play play(slots_of({1, 1}), settings);
  const std::uint64_t holder = play.add(task_of("holder", {stage_of("a", {{.rank = 0, .workers = 1}})}));
  const std::uint64_t pinned = play.add(task_of("pinned", {stage_of("a", {{.rank = 0, .workers = 1}})}));
  const std::uint64_t free = play.add(stream("free", Workers(1)));
  play.begin();
  REQUIRE(play.part(free).places[0].rank == 1);
  play.wait(milliseconds(100));
  for (int step = 0; step < 5; ++step) {
    play.end_part_of(free);
    REQUIRE(play.part(free).places[0].rank == 1);
  }
  play.end_part_of(holder);
  REQUIRE(play.part(pinned).places[0].rank == 0);
}

TEST_CASE("One starving stage locks at a time, first come") {
  SchedulerSettings settings;
  settings.aging = milliseconds(1);
  Play play(slots_of({2, 2}), settings);
  const std::uint64_t left = play.add(task_of("left", {stage_of("a", {{.rank = 0, .workers = 1}})}));
  const std::uint64_t right = play.add(task_of("right", {stage_of("a", {{.rank = 1, .workers = 1}})}));
  const std::uint64_t all = play.add(task_of("all", {stage_of("a", all_slots())}));
  play.begin();
  play.wait(milliseconds(50));
  const std::uint64_t late = play.add(task_of("late", {stage_of("a", 2)}));
  play.end_part_of(left);
  // Two slots of rank 0 are free, and kept.
  REQUIRE_FALSE(play.runs(all));
  REQUIRE_FALSE(play.runs(late));
  play.end_part_of(right);
  REQUIRE(play.part(all).workers() == 4);
  play.end_part_of(all);
  REQUIRE(play.runs(late));
}

TEST_CASE("Of stages that starve, the one that began to first comes first") {
  Play play(slots_of({2}));
  const std::uint64_t holder = play.add(task_of("holder", {stage_of("a", 1, 0, 5)}));
  const std::uint64_t later = play.add(task_of("later", {stage_of("a", 2, 0, 0)}));
  const std::uint64_t earlier = play.add(task_of("earlier", {stage_of("a", 2, 0, 2)}));
  play.begin();
  play.wait(milliseconds(20'000));
  play.end_part_of(holder);
  REQUIRE(play.runs(earlier));
  play.end_part_of(earlier);
  REQUIRE(play.runs(later));
}

TEST_CASE("A task with data uses each part of them in turn, and stays where moving is costly") {
  Play play(slots_of({1, 1, 1}));
  TaskSpec spec = stream("data", Workers(1));
  spec.data_bytes = {100, 0, 100};
  const std::uint64_t task = play.add(spec);
  play.begin();
  REQUIRE(play.part(task).places[0].rank == 0);
  for (const std::int32_t expected : {2, 0, 2}) {
    play.wait(milliseconds(10));
    play.end(play.part(task).group);
    REQUIRE(play.part(task).places[0].rank == expected);
  }
  // Preparing took 1.9 of 10 ms: two parts stay on a rank.
  std::vector<std::int32_t> ranks;
  for (int step = 0; step < 7; ++step) {
    play.wait(milliseconds(10));
    play.end(play.part(task).group, 0.001, 0.0019);
    ranks.push_back(play.part(task).places[0].rank);
  }
  REQUIRE(ranks == std::vector<std::int32_t>{2, 0, 0, 2, 2, 0, 0});
}

TEST_CASE("A task without data stays where it is") {
  Play play(slots_of({1, 1, 1}));
  const std::uint64_t other = play.add(task_of("other", {stage_of("a", {{.rank = 0, .workers = 1}})}));
  const std::uint64_t task = play.add(stream("model", Workers(1)));
  play.begin();
  REQUIRE(play.part(task).places[0].rank == 1);
  play.end_part_of(other);
  for (int step = 0; step < 3; ++step) {
    play.end_part_of(task);
    REQUIRE(play.part(task).places[0].rank == 1);
  }
}
