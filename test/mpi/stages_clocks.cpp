// Stages, and groups of workers, on tables whose consistency has a bound: each has clocks of its own.
#include <mpi.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/consistency/consistency.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/stage/engine.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/stages_slots.hpp"
#include "test/support/catch.hpp"
#include "test/support/clock_history.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::test::all_slots_of;
using lapse::test::ClockHistory;
using lapse::test::engine_options;
using lapse::test::expect;

namespace {

// Waits until the key of the table is above 0.
void wait_for(Worker& worker, const Table<double>& table, Key key) {
  double value = 0;
  while (value <= 0) worker.pull(table, key, std::span(&value, 1)).wait();
}

// A stage that runs one worker on each rank.
Workers one_on_each(std::int32_t ranks) {
  std::vector<Place> places;
  places.reserve(static_cast<std::size_t>(ranks));
  for (std::int32_t rank = 0; rank < ranks; ++rank) places.push_back({.rank = rank, .workers = 1});
  return Workers(places);
}

}  // namespace

TEST_CASE("Stages: reads keep their bound in every stage, which counts clocks from 0") {
  const auto* const name = GENERATE("bsp", "cap(1)", "cap(3)", "essp(1)", "ssp(2)");
  const Consistency consistency = Consistency::parse(name);
  CAPTURE(name);
  ParameterServer server(MPI_COMM_WORLD);
  const auto staleness = static_cast<std::int64_t>(consistency.staleness().value());
  const auto all = static_cast<std::size_t>(all_slots_of(server.ranks(), 1));
  Engine engine(server, engine_options(server, 1));
  std::vector<TaskId> tasks;
  std::vector<Table<std::int64_t>> tables;
  // The first two run at the same time where there are slots for both, then one with all slots.
  for (const std::size_t workers : {std::size_t{1}, std::min<std::size_t>(2, all), all}) {
    const auto table = tables.emplace_back(server.create_table<std::int64_t>(
        {.keys = ClockHistory::kKeys, .length = workers, .consistency = consistency}));
    const Stage counting{.name = "counting",
                         .f =
                             [=](Info& info) {
                               expect(info.count() == workers, "workers of the stage");
                               const ClockHistory history(table, staleness, true);
                               history.run(info.worker(), info.index() % 2 == 0);
                             },
                         .workers = Workers(static_cast<std::int32_t>(workers))};
    // It sees the last clock of the stage before, and begins at clock 0 itself.
    const Stage clearing{.name = "clearing",
                         .f =
                             [=](Info& info) {
                               std::vector<std::int64_t> counts(workers);
                               for (std::uint64_t key = 0; key < ClockHistory::kKeys; ++key) {
                                 info.worker().pull(table, Key(key), counts).wait();
                                 const auto wanted = [&](std::size_t worker) {
                                   return ClockHistory::all_pushes(worker, key);
                                 };
                                 for (std::size_t worker = 0; worker < workers; ++worker)
                                   expect(counts[worker] == wanted(worker), "all pushes of the stage before");
                                 for (std::int64_t& count : counts) count = -count;
                                 info.worker().push(table, Key(key), counts);
                               }
                               info.worker().advance_clock();
                             },
                         .workers = 1};
    tasks.push_back(engine.submit({.name = "counts", .repeat = 2, .stages = {counting, clearing}}));
  }
  CHECK(engine.run() == RunEnd::finished);
  for (const TaskId task : tasks) {
    CAPTURE(engine.result(task).text);
    CHECK(engine.result(task).state == TaskState::done);
  }
  for (const auto& table : tables) {
    const TableCounters counters = server.statistics().table_total(table.id());
    CHECK(counters.clocks > 0);
    CHECK(counters.clock_lag_max <= static_cast<std::uint64_t>(staleness));
  }
  server.close();
}

TEST_CASE("Stages: no task waits for the clocks of another one") {
  const auto* const name = GENERATE("bsp", "cap(1)", "essp(0)");
  const Consistency consistency = Consistency::parse(name);
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 8, .length = 1, .consistency = consistency});
  const auto flags = server.create_table<double>({.keys = 1, .length = 1});
  const std::int32_t ranks = server.ranks();
  Engine engine(server, {.slots = 2});
  // Its workers stay at clock 0 until the other task has counted all its clocks.
  const Stage staying{.name = "staying",
                      .f =
                          [&](Info& info) {
                            const double one = 1;
                            info.worker().push(table, Key(info.index() % 8), std::span(&one, 1)).wait();
                            wait_for(info.worker(), flags, Key(0));
                            info.worker().advance_clock();
                          },
                      .workers = one_on_each(ranks)};
  const Stage counting{.name = "counting",
                       .f =
                           [&](Info& info) {
                             for (int clock = 0; clock < 40; ++clock) {
                               double value = 1;
                               const Key key(static_cast<std::uint64_t>(clock) % 8);
                               info.worker().push(table, key, std::span(&value, 1));
                               info.worker().pull(table, key, std::span(&value, 1)).wait();
                               info.worker().advance_clock();
                             }
                             // The last gate opens, too.
                             double value = 0;
                             info.worker().pull(table, Key(0), std::span(&value, 1)).wait();
                             const double part = 1.0 / static_cast<double>(info.count());
                             info.worker().barrier();
                             info.worker().push(flags, Key(0), std::span(&part, 1)).wait();
                           },
                       .workers = one_on_each(ranks)};
  const TaskId first = engine.submit({.name = "staying", .stages = {staying}});
  const TaskId second = engine.submit({.name = "counting", .stages = {counting}});
  CHECK(engine.run() == RunEnd::finished);
  CHECK(engine.result(first).state == TaskState::done);
  CHECK(engine.result(second).state == TaskState::done);
  server.close();
}

TEST_CASE("Groups: none waits for the clocks of another one") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 8, .length = 1, .consistency = Consistency::bsp});
  const auto flags = server.create_table<double>({.keys = 1, .length = 1});
  const auto stays = [&](Worker& worker) {
    wait_for(worker, flags, Key(0));
    worker.advance_clock();
  };
  const auto counts = [&](Worker& worker) {
    std::vector<double> seen(1);
    for (int clock = 0; clock < 40; ++clock) {
      const double one = 1;
      worker.pull(table, Key(3), seen).wait();
      expect(seen[0] >= clock * static_cast<double>(worker.count()), "all clocks before");
      worker.push(table, Key(3), std::span(&one, 1)).wait();
      worker.advance_clock();
    }
    worker.barrier();
    const double one = 1;
    worker.push(flags, Key(0), std::span(&one, 1)).wait();
  };
  // The last rank has no worker of the second group, where there are several.
  const bool is_last = server.ranks() > 1 && server.rank().value() == server.ranks() - 1;
  const std::vector<GroupPart> groups{{.workers = 1, .work = stays},
                                      {.workers = is_last ? 0 : 2, .work = counts}};
  for (int phase = 0; phase < 3; ++phase) {
    for (const GroupEnd& end : server.run_groups(groups)) CHECK_FALSE(end.failure);
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() != 0) return;
      worker.set(table, Key(3), std::vector<double>{0});
      worker.set(flags, Key(0), std::vector<double>{0});
    });
  }
  server.close();
}

TEST_CASE("Stages: bounds of values hold, and what one task has used is free for the next") {
  const bool strong = GENERATE(false, true);
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>(
      {.keys = 2, .length = 1, .consistency = Consistency::vap({.bound = 1, .strong = strong})});
  Engine engine(server, {.slots = 2});
  constexpr int kPushes = 30;
  const Stage pushing{.name = "pushing",
                      .f =
                          [&](Info& info) {
                            const double some = 0.4;
                            double value = 0;
                            for (int i = 0; i < kPushes; ++i) {
                              info.worker().push(table, Key(0), std::span(&some, 1));
                              if (i % 4 == 0) info.worker().pull(table, Key(0), std::span(&value, 1)).wait();
                            }
                          },
                      .workers = all_slots()};
  double expected = 0;
  const Stage checking{.name = "checking",
                       .f =
                           [&](Info& info) {
                             double value = 0;
                             info.worker().pull(table, Key(0), std::span(&value, 1)).wait();
                             const double more = 0.4 * kPushes * 2 * server.ranks();
                             info.worker().push(table, Key(1), std::span(&more, 1)).wait();
                             info.worker().pull(table, Key(1), std::span(&expected, 1)).wait();
                             expect(std::abs(value - expected) < 1e-6, "all pushes of the stage before");
                           },
                       .workers = {{.rank = 0, .workers = 1}}};
  const Task task{.name = "values", .repeat = 4, .stages = {pushing, checking}};
  CHECK(engine.submit_and_wait(task).state == TaskState::done);
  CHECK(engine.submit_and_wait(task).state == TaskState::done);
  server.close();
}

TEST_CASE("Stages: a worker that fails at a clock ends its task, and the slots serve the next one") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 8, .length = 1, .consistency = Consistency::bsp});
  Engine engine(server, {.slots = 1});
  const auto counting = [&](int failing_clock) {
    return [&, failing_clock](Info& info) {
      for (int clock = 0; clock < 20; ++clock) {
        if (clock == failing_clock && info.index() == 0) throw std::runtime_error("at this clock");
        double value = 1;
        info.worker().push(table, Key(static_cast<std::uint64_t>(clock) % 8), std::span(&value, 1));
        info.worker().pull(table, Key(0), std::span(&value, 1)).wait();
        info.worker().advance_clock();
      }
    };
  };
  for (int round = 0; round < 4; ++round) {
    const TaskId failing =
        engine.submit({.name = "failing",
                       .stages = {{.name = "stage", .f = counting(1 + 5 * round), .workers = all_slots()}}});
    const TaskId good = engine.submit(
        {.name = "good", .stages = {{.name = "stage", .f = counting(-1), .workers = all_slots()}}});
    CHECK(engine.run() == RunEnd::finished);
    CHECK(engine.result(failing).state == TaskState::failed);
    CHECK(engine.result(good).state == TaskState::done);
  }
  server.close();
}

TEST_CASE("Stages: hundreds of short ones with a bound come and go") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table =
      server.create_table<double>({.keys = 3, .length = 1, .consistency = Consistency::cap(1)});
  Engine engine(server, {.slots = 2});
  const auto step = [&](Info& info) {
    const double one = 1;
    for (int clock = 0; clock < 2; ++clock) {
      info.worker().push(table, Key(info.index() % 3), std::span(&one, 1));
      info.worker().advance_clock();
    }
  };
  const TaskResult wide =
      engine.submit_and_wait({.name = "wide",
                              .repeat = 60,
                              .stages = {{.name = "all", .f = step, .workers = all_slots()},
                                         {.name = "one", .f = step, .workers = 1}}});
  CHECK(wide.epochs == 60);
  for (int i = 0; i < 8; ++i)
    engine.submit({.name = "narrow", .repeat = 30, .stages = {{.name = "one", .f = step, .workers = 1}}});
  CHECK(engine.run() == RunEnd::finished);
  double sum = 0;
  server.run_workers(1, [&](Worker& worker) {
    std::vector<double> values(3);
    const std::vector<Key> keys{Key(0), Key(1), Key(2)};
    worker.pull(table, keys, values).wait();
    if (worker.local_index() == 0) sum = values[0] + values[1] + values[2];
  });
  CHECK(sum == 2.0 * (60 * (2 * server.ranks() + 1) + 8 * 30));
  server.close();
}
