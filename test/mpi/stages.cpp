// Tasks of stages on a server: order, iterations, places, and what a stage sees of the one before it.
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/stage/engine.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/stages_slots.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::test::all_slots_of;
using lapse::test::engine_options;
using lapse::test::expect;
using lapse::test::key_range;

TEST_CASE("A stage sees everything that the stage before it has written") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 50, .length = 3});
  for (const std::int32_t first : {0, 1, 3}) {
    Engine engine(server, engine_options(server, first));
    const double all = all_slots_of(server.ranks(), first);
    const std::vector<Key> keys = key_range(0, 50);
    const Stage full{.name = "full",
                     .f =
                         [&](Info& info) {
                           expect(info.count() == static_cast<std::size_t>(all), "a worker in each slot");
                           const std::vector<double> ones(150, 1.0);
                           // Not awaited: the end of the stage does that.
                           info.worker().push(table, keys, ones);
                         },
                     .workers = all_slots()};
    const Stage narrow{.name = "narrow",
                       .f =
                           [&](Info& info) {
                             expect(info.count() == 1, "one worker");
                             std::vector<double> values(150);
                             info.worker().pull(table, keys, values).wait();
                             for (double& value : values) {
                               expect(value == all, "one push of each worker of the stage before");
                               value = -value;
                             }
                             info.worker().push(table, keys, values);
                           },
                       .workers = 1};
    const TaskResult result =
        engine.submit_and_wait({.name = "alternating", .repeat = 30, .stages = {full, narrow}});
    CHECK(result.state == TaskState::done);
    CHECK(result.epochs == 30);
    CHECK(result.stages[0].parts == 30);
    CHECK(result.stages[0].workers == static_cast<std::uint32_t>(all));
    CHECK(result.stages[1].workers == 1);
  }
  server.close();
}

TEST_CASE("Every iteration of a stage runs once, in order, whatever the number of workers") {
  ParameterServer server(MPI_COMM_WORLD);
  constexpr std::uint64_t kIterations = 400;
  const auto done = server.create_table<std::int64_t>({.keys = kIterations, .length = 1});
  EngineOptions options = engine_options(server, 2);
  options.part_time = std::chrono::milliseconds(1);
  Engine engine(server, options);
  std::vector<TaskId> tasks;
  for (const Workers& workers : {automatic(), Workers(2), all_slots()}) {
    tasks.push_back(engine.submit({.name = "iterations",
                                   .stages = {{.name = "count",
                                               .f =
                                                   [&](Info& info) {
                                                     std::uint64_t expected = info.iterations().first();
                                                     const std::vector<std::int64_t> one(1, 1);
                                                     for (const std::uint64_t iteration : info.iterations()) {
                                                       expect(iteration == expected++,
                                                              "consecutive iterations");
                                                       if (info.index() == iteration % info.count())
                                                         info.worker().push(done, Key(iteration), one).wait();
                                                       info.worker().barrier();
                                                     }
                                                   },
                                               .workers = workers,
                                               .iterations = kIterations}}}));
  }
  CHECK(engine.run() == RunEnd::finished);
  for (const TaskId task : tasks) {
    CHECK(engine.result(task).state == TaskState::done);
    CHECK(engine.result(task).stages[0].iterations == kIterations);
    CHECK(engine.result(task).stages[0].parts > 1);
  }
  server.run_workers(1, [&](Worker& worker) {
    std::vector<std::int64_t> values(kIterations);
    worker.pull(done, key_range(0, kIterations), values).wait();
    for (const std::int64_t value : values) expect(value == 3, "each iteration once for each task");
  });
  server.close();
}

TEST_CASE("Workers are where their stage places them, and number themselves by rank") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 2});
  const std::int32_t last = server.ranks() - 1;
  std::vector<Place> places{{.rank = last, .workers = 2}};
  if (last > 0) places.push_back({.rank = 0, .workers = 1});
  std::atomic<int> seen{0};
  engine.submit_and_wait(
      {.name = "placed",
       .repeat = 3,
       .stages = {{.name = "here",
                   .f =
                       [&](Info& info) {
                         Worker& worker = info.worker();
                         const std::size_t on_first = last > 0 ? 1 : 0;
                         const bool is_last = worker.rank() == Rank(last);
                         expect(info.count() == 2 + on_first, "all workers");
                         expect(worker.local_count() == (is_last ? 2U : 1U), "the workers of the rank");
                         expect(info.index() == worker.local_index() + (is_last ? on_first : 0U),
                                "numbers by rank");
                         seen.fetch_add(1);
                       },
                   .workers = Workers(places)}}});
  const int per_run = server.rank() == Rank(last) ? 2 : (server.rank() == Rank(0) ? 1 : 0);
  CHECK(seen.load() == 3 * per_run);
  server.close();
}

TEST_CASE("Objects of a task stay in their slot until the task ends; random numbers are repeatable") {
  ParameterServer server(MPI_COMM_WORLD);
  struct Count {
    int uses = 0;
  };
  Engine engine(server, {.slots = 2, .seed = 5});
  std::vector<std::uint64_t> drawn[2];
  std::atomic<int> highest{0};
  for (auto& numbers : drawn) {
    engine.submit_and_wait({.name = "local",
                            .repeat = 4,
                            .stages = {{.name = "use",
                                        .f =
                                            [&](Info& info) {
                                              const int uses = ++info.local<Count>().uses;
                                              expect(uses == static_cast<int>(info.epoch()) + 1,
                                                     "the object of the slot");
                                              highest = std::max(highest.load(), uses);
                                              if (info.index() == 0) numbers.push_back(info.random()());
                                            },
                                        .workers = all_slots()}}});
  }
  CHECK(highest.load() == 4);  // the second task has objects of its own
  if (server.rank() == Rank(0)) {
    CHECK(drawn[0].size() == 4);
    CHECK(drawn[0] != drawn[1]);
    CHECK(drawn[0][0] != drawn[0][1]);
  }
  server.close();
}

TEST_CASE("Parameters move from the ranks of a stage to those of the next one directly") {
  constexpr std::uint64_t kKeys = 60;
  constexpr std::uint64_t kEpochs = 10;
  ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  if (server.ranks() < 3) return;
  const auto table = server.create_table<float>({.keys = kKeys, .length = 4});
  Engine engine(server, {.slots = 1});
  const auto stage_on = [&](std::int32_t rank) {
    return Stage{.name = "on" + std::to_string(rank),
                 .f =
                     [&](Info& info) {
                       expect(lapse::test::count_local(info.worker(), table) == kKeys, "all keys here");
                     },
                 .workers = Workers({{.rank = rank, .workers = 1}}),
                 .prepare = Prepare::integral};
  };
  const auto arrived = [&] {
    std::vector<std::uint64_t> by_rank;
    for (const RankStatistics& rank : server.statistics().ranks)
      by_rank.push_back(rank.tables.at(0).relocations_in);
    return by_rank;
  };
  // Rank 0 is the home of some keys, and sees none of the values after the first stage.
  engine.submit_and_wait({.name = "first", .tables = {table.handle()}, .stages = {stage_on(1)}});
  const std::vector<std::uint64_t> before = arrived();
  engine.submit_and_wait(
      {.name = "turns", .tables = {table.handle()}, .repeat = kEpochs, .stages = {stage_on(2), stage_on(1)}});
  const std::vector<std::uint64_t> after = arrived();
  CHECK(after[0] == before[0]);
  CHECK(after[1] == before[1] + kEpochs * kKeys);
  CHECK(after[2] == before[2] + kEpochs * kKeys);
  server.close();
}

TEST_CASE("A worker ends its task early; parameters move to a stage before it begins") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 101, .length = 2});
  Engine engine(server, {.slots = 1});
  const std::int32_t last = server.ranks() - 1;
  const TaskResult result = engine.submit_and_wait(
      {.name = "early",
       .tables = {table.handle()},
       .repeat = 1000,
       .stages = {{.name = "whole",
                   .f =
                       [&](Info& info) {
                         expect(lapse::test::count_local(info.worker(), table) == 101, "all keys here");
                         if (info.epoch() == 5) info.end_task();
                       },
                   .workers = {{.rank = last, .workers = 1}},
                   .prepare = Prepare::integral},
                  {.name = "back",
                   .f = [](Info&) {},
                   .workers = {{.rank = 0, .workers = 1}},
                   .prepare = Prepare::integral}}});
  CHECK(result.state == TaskState::done);
  CHECK(result.epochs == 5);
  server.close();
}
