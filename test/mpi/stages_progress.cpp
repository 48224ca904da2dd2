// Runs that pause, and tasks that are continued by another engine, from the progress that a checkpoint keeps.
#include <mpi.h>

#include <string>
#include <vector>

#include "lapse/stage/engine.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/stages_slots.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::test::expect;

namespace {

// Each iteration of each epoch adds 1 to its key, so that doubled and lost ones show.
Task counting(const Table<std::int64_t>& table, std::uint64_t iterations, std::int32_t workers) {
  const auto count = [table](Info& info) {
    const std::vector<std::int64_t> one(1, 1);
    for (const std::uint64_t iteration : info.iterations()) {
      if (info.index() == 0) info.worker().push(table, Key(iteration), one).wait();
      info.worker().barrier();
    }
  };
  return {.name = "counting",
          .repeat = 3,
          .stages = {{.name = "count", .f = count, .workers = workers, .iterations = iterations},
                     {.name = "tuned", .f = count, .iterations = iterations},
                     {.name = "empty", .f = [](Info&) {}, .workers = 1}}};
}

Task following(TaskId before) {
  return {
      .name = "following", .after = {before}, .stages = {{.name = "last", .f = [](Info&) {}, .workers = 1}}};
}

// From rank 0 to all.
std::string broadcast(std::string text) {
  auto length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

}  // namespace

TEST_CASE("A run pauses, and other engines continue its tasks on other slots: each iteration runs once") {
  constexpr std::uint64_t kIterations = 200;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kIterations, .length = 1});
  EngineOptions options;
  options.part_time = std::chrono::microseconds(100);
  options.run_time = std::chrono::microseconds(300);
  std::string progress;
  RunEnd end = RunEnd::paused;
  int engines = 0;
  TaskResult result;
  for (; end == RunEnd::paused; ++engines) {
    REQUIRE(engines < 2000);
    options.slots = 1 + engines % 2;
    Engine engine(server, options);
    const TaskId task = engine.submit(counting(table, kIterations, 1));
    const TaskId after = engine.submit(following(task));
    if (engines > 0) engine.resume(progress);
    end = engine.run();
    progress = broadcast(engine.progress());
    result = engine.result(task);
    if (end == RunEnd::finished) CHECK(engine.result(after).state == TaskState::done);
  }
  CHECK(end == RunEnd::finished);
  CHECK(engines > 1);
  CHECK(result.state == TaskState::done);
  CHECK(result.epochs == 3);
  CHECK(result.stages[0].iterations == 3 * kIterations);
  server.run_workers(1, [&](Worker& worker) {
    std::vector<std::int64_t> values(kIterations);
    worker.pull(table, lapse::test::key_range(0, kIterations), values).wait();
    for (const std::int64_t value : values) expect(value == 6, "each iteration of two stages in 3 epochs");
  });
  // Nothing is left for an engine that continues from the end.
  Engine engine(server, options);
  const TaskId task = engine.submit(counting(table, kIterations, 1));
  engine.submit(following(task));
  engine.resume(progress);
  CHECK(engine.result(task).state == TaskState::done);
  CHECK(engine.run() == RunEnd::finished);
  server.close();
}

TEST_CASE("Progress of other tasks, or damaged, is refused on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = 20, .length = 1});
  Engine engine(server, {.slots = 1});
  engine.submit(counting(table, 20, 1));
  const std::string progress = broadcast(engine.progress());
  Engine other(server, {.slots = 1});
  CHECK_THROWS_AS(other.resume(progress), CollectiveMismatch);
  const TaskId task = other.submit(counting(table, 19, 1));
  CHECK_THROWS_AS(other.resume(progress), CollectiveMismatch);
  CHECK_THROWS_AS(engine.resume("no archive"), ProtocolError);
  CHECK_THROWS_AS(engine.resume(""), ProtocolError);
  if (server.ranks() > 1) {
    CHECK_THROWS_AS(engine.resume(server.rank() == Rank(0) ? progress : "other"), CollectiveMismatch);
  }
  CHECK_NOTHROW(engine.resume(progress));
  CHECK(other.run() == RunEnd::finished);
  CHECK(other.result(task).state == TaskState::done);
  server.close();
}
