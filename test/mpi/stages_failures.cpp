// Tasks that fail, are cancelled or stopped, and what they leave to others.
#include <mpi.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "lapse/ps/groups.hpp"
#include "lapse/stage/engine.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/stages_slots.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::test::expect;

namespace {

Task pushing(const std::string& name, const Table<double>& table, Key key, std::uint64_t repeat) {
  return {.name = name,
          .repeat = repeat,
          .stages = {{.name = "push",
                      .f =
                          [table, key](Info& info) {
                            info.worker().barrier();
                            const std::vector<double> one(1, 1.0);
                            if (info.index() == 0) info.worker().push(table, key, one).wait();
                          },
                      .workers = 2}}};
}

Task failing(const std::string& name, std::int32_t rank, std::vector<TaskId> after = {}) {
  return {.name = name,
          .after = std::move(after),
          .stages = {{.name = "fails",
                      .f =
                          [rank](Info& info) {
                            if (info.worker().rank() == Rank(rank)) throw std::runtime_error("no such file");
                            // The others of the group wait for the one that does not come.
                            info.worker().barrier();
                          },
                      .workers = all_slots()}}};
}

}  // namespace

TEST_CASE("A failure ends its task on every rank, cancels what follows, and leaves other tasks alone") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 4, .length = 1});
  Engine engine(server, {.slots = 2});
  const std::int32_t last = server.ranks() - 1;
  const TaskId beside = engine.submit(pushing("beside", table, Key(0), 20));
  const TaskId failed = engine.submit(failing("failing", last));
  Task next = pushing("next", table, Key(1), 1);
  next.after = {beside, failed};
  const TaskId after = engine.submit(next);
  const TaskId other = engine.submit(pushing("other", table, Key(2), 20));
  CHECK(engine.run() == RunEnd::finished);
  CHECK(engine.result(failed).state == TaskState::failed);
  CHECK(engine.result(failed).origin == last);
  CHECK(engine.result(failed).text.find("no such file") != std::string::npos);
  CHECK(engine.result(after).state == TaskState::cancelled);
  CHECK(engine.result(beside).state == TaskState::done);
  CHECK(engine.result(other).state == TaskState::done);
  // The slots and the server are as good as before.
  CHECK(engine.submit_and_wait(pushing("again", table, Key(3), 5)).state == TaskState::done);
  server.run_workers(1, [&](Worker& worker) {
    std::vector<double> values(4);
    worker.pull(table, lapse::test::key_range(0, 4), values).wait();
    expect(values == std::vector<double>{20, 0, 20, 5}, "the pushes of the tasks that were done");
  });
  server.close();
}

TEST_CASE("submit_and_wait throws what the task has thrown, on every rank") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 1});
  try {
    engine.submit_and_wait(failing("failing", 0));
    FAIL("expected TaskFailed");
  } catch (const TaskFailed& error) {
    CHECK(error.result().state == TaskState::failed);
    CHECK(error.result().origin == 0);
    CHECK(std::string(error.what()).find("task 'failing' failed on rank 0: ") == 0);
  }
  CHECK(engine.run() == RunEnd::finished);  // nothing is left
  server.close();
}

TEST_CASE("Workers that make different collective calls fail their task alone") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 2});
  const TaskId wrong = engine.submit({.name = "wrong",
                                      .stages = {{.name = "differ",
                                                  .f =
                                                      [](Info& info) {
                                                        if (info.index() == 0) return;
                                                        info.worker().barrier();
                                                      },
                                                  .workers = all_slots()}}});
  const TaskId right = engine.submit(
      {.name = "right",
       .repeat = 10,
       .stages = {
           {.name = "wait", .f = [](Info& info) { info.worker().sync_barrier(); }, .workers = all_slots()}}});
  engine.run();
  CHECK(engine.result(wrong).state == TaskState::failed);
  CHECK(engine.result(right).state == TaskState::done);
  server.close();
}

TEST_CASE("A task is cancelled by a worker of another task, by any rank, and before a run") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 2});
  const auto wait_endlessly = [](Info& info) {
    for (;;) info.worker().barrier();
  };
  const TaskId endless =
      engine.submit({.name = "endless",
                     .repeat = 3,
                     .stages = {{.name = "wait", .f = wait_endlessly, .workers = server.ranks()}}});
  const TaskId before =
      engine.submit({.name = "before", .stages = {{.name = "wait", .f = wait_endlessly, .workers = 1}}});
  const TaskId follows = engine.submit({.name = "follows",
                                        .after = {before},
                                        .stages = {{.name = "wait", .f = wait_endlessly, .workers = 1}}});
  if (server.rank() == Rank(server.ranks() - 1)) engine.cancel(before);
  const TaskId killer = engine.submit(
      {.name = "killer",
       .stages = {{.name = "kill", .f = [&](Info& info) { info.cancel(endless); }, .workers = 1}}});
  CHECK(engine.run() == RunEnd::finished);
  CHECK(engine.result(endless).state == TaskState::cancelled);
  CHECK(engine.result(endless).text == "cancelled by a call");
  CHECK(engine.result(before).state == TaskState::cancelled);
  CHECK(engine.result(follows).state == TaskState::cancelled);
  CHECK(engine.result(killer).state == TaskState::done);
  server.close();
}

TEST_CASE("A task is cancelled although its workers on the first rank have returned already") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() == 1) return;
  const auto table = server.create_table<std::int64_t>({.keys = 2, .length = 1});
  Engine engine(server, {.slots = 2});
  const std::int32_t last = server.ranks() - 1;
  const auto pull = [table](Info& info) {
    std::vector<std::int64_t> value(1);
    info.worker().pull(table, Key(0), value).wait();
    return value[0];
  };
  const TaskId uneven = engine.submit(
      {.name = "uneven",
       .stages = {{.name = "work",
                   .f =
                       [=](Info& info) {
                         if (info.index() == 0)
                           info.worker().push(table, Key(0), std::vector<std::int64_t>{1}).wait();
                         while (info.index() != 0) pull(info);
                       },
                   .workers = {{.rank = 0, .workers = 1}, {.rank = last, .workers = 1}}}}});
  engine.submit({.name = "killer",
                 .stages = {{.name = "kill",
                             .f =
                                 [=](Info& info) {
                                   while (pull(info) == 0) {
                                   }
                                   for (int i = 0; i < 1000; ++i) pull(info);
                                   info.cancel(uneven);
                                 },
                             .workers = 1}}});
  CHECK(engine.run() == RunEnd::finished);
  CHECK(engine.result(uneven).state == TaskState::cancelled);
  server.close();
}

TEST_CASE("A stop ends the run after the parts in progress") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 1});
  const TaskId endless = engine.submit({.name = "endless",
                                        .repeat = 1000000,
                                        .stages = {{.name = "step",
                                                    .f =
                                                        [&](Info& info) {
                                                          if (info.epoch() == 10) server.request_stop();
                                                          info.worker().barrier();
                                                        },
                                                    .workers = all_slots()}}});
  CHECK(engine.run() == RunEnd::stop_requested);
  const TaskResult& result = engine.result(endless);
  CHECK_FALSE(result.has_ended());
  CHECK(result.epochs >= 11);
  CHECK(result.epochs < 1000000);
  const std::uint64_t epochs = result.epochs;
  CHECK(engine.run() == RunEnd::stop_requested);  // the request stands
  CHECK(engine.result(endless).epochs == epochs);
  server.close();
}

TEST_CASE("An engine does not run within a stage, and not after the close of its server") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 1});
  CHECK_THROWS_AS(
      engine.submit_and_wait(
          {.name = "nested", .stages = {{.name = "run", .f = [&](Info&) { engine.run(); }, .workers = 1}}}),
      TaskFailed);
  server.close();
  CHECK_THROWS_AS(engine.run(), ClosedError);
}
