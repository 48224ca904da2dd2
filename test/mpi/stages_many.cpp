// Many tasks and stages at the same time.
#include <malloc.h>
#include <mpi.h>

#include <array>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/stage/engine.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/stages_slots.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::test::engine_options;
using lapse::test::expect;

namespace {

// Each task pushes its number of times to its key, and moves the key about.
Task random_task(RandomEngine& random, std::uint64_t number, const Table<double>& table, bool fails,
                 std::int32_t slots) {
  Task task{
      .name = "task" + std::to_string(number), .tables = {table.handle()}, .repeat = 1 + random.below(20)};
  const auto stages = 1 + random.below(3);
  for (std::uint64_t stage = 0; stage < stages; ++stage) {
    const auto workers = static_cast<std::int32_t>(1 + random.below(static_cast<std::uint64_t>(slots)));
    const bool fails_here = fails && stage + 1 == stages;
    task.stages.push_back({.name = "stage" + std::to_string(stage),
                           .f =
                               [table, number, fails_here](Info& info) {
                                 Worker& worker = info.worker();
                                 std::array<std::int64_t, 1> count{1};
                                 worker.all_reduce(count);
                                 expect(count[0] == static_cast<std::int64_t>(info.count()),
                                        "the workers of the stage alone");
                                 if (fails_here && info.epoch() == 3 && info.index() + 1 == info.count())
                                   throw std::runtime_error("a random failure");
                                 const std::vector<double> one(1, 1.0);
                                 worker.localize(table, Key(number));
                                 worker.push(table, Key(number), one);
                                 std::vector<double> value(1);
                                 worker.pull(table, Key(number), value).wait();
                                 worker.barrier();
                               },
                           .workers = workers,
                           .priority = static_cast<double>(random.below(3))});
  }
  return task;
}

}  // namespace

TEST_CASE("Ten tasks at once, some of which fail, leave exact sums") {
  constexpr std::uint64_t kTasks = 10;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = kTasks, .length = 1});
  for (const std::int32_t first : {0, 2}) {
    Engine engine(server, engine_options(server, first));
    const std::int32_t slots = lapse::test::all_slots_of(server.ranks(), first);
    RandomEngine random(static_cast<std::uint64_t>(first) + 17);
    std::vector<TaskId> tasks;
    std::vector<double> expected;
    for (std::uint64_t number = 0; number < kTasks; ++number) {
      Task task = random_task(random, number, table, number % 4 == 3, slots);
      std::int64_t workers = 0;
      for (const Stage& stage : task.stages) workers += stage.workers.number();
      expected.push_back(static_cast<double>(task.repeat) * static_cast<double>(workers));
      tasks.push_back(engine.submit(std::move(task)));
    }
    CHECK(engine.run() == RunEnd::finished);
    for (std::uint64_t number = 0; number < kTasks; ++number) {
      const TaskState state = engine.result(tasks[number]).state;
      CHECK((state == TaskState::done || (number % 4 == 3 && state == TaskState::failed)));
    }
    server.run_workers(1, [&](Worker& worker) {
      for (std::uint64_t number = 0; number < kTasks; ++number) {
        std::vector<double> value(1);
        worker.pull(table, Key(number), value).wait();
        if (engine.result(tasks[number]).state == TaskState::done)
          expect(value[0] == expected[number], "the exact sum of the task's pushes");
        worker.barrier();
        if (worker.index() == 0) worker.set(table, Key(number), std::vector<double>{0.0}).wait();
      }
    });
  }
  server.close();
}

TEST_CASE("Memory does not grow with the number of stages that have run") {
  constexpr std::uint64_t kEpochs = 5000;
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 1});
  std::int64_t before = 0;
  std::int64_t after = 0;
  const auto measure = [&](Info& info) {
    const struct mallinfo2 heap = mallinfo2();
    const auto bytes = static_cast<std::int64_t>(heap.uordblks + heap.hblkhd);
    // Queues and pools have their size after some stages.
    if (info.epoch() == kEpochs / 5) before = bytes;
    if (info.epoch() == kEpochs - 1) after = bytes;
  };
  const TaskResult result =
      engine.submit_and_wait({.name = "empty",
                              .repeat = kEpochs,
                              .stages = {{.name = "one", .f = measure, .workers = all_slots()},
                                         {.name = "other", .f = [](Info&) {}, .workers = 1}}});
  CHECK(result.stages[0].parts + result.stages[1].parts == 2 * kEpochs);
  CHECK(before > 0);
  CHECK(after - before < 200'000);  // 25 bytes for each stage between
  server.close();
}
