// What an engine refuses, with a typed error on every rank.
#include <mpi.h>

#include "lapse/stage/engine.hpp"
#include "test/mpi/stages_slots.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::stage;

namespace {

Task one_stage(const std::string& task, Workers workers, std::uint64_t iterations = 0) {
  return {
      .name = task,
      .stages = {{.name = "a", .f = [](Info&) {}, .workers = std::move(workers), .iterations = iterations}}};
}

template <class Failure, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Failure& error) {
    return error.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("Impossible tasks are refused when they are submitted, and leave the engine as it was") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 1});
  Task without_function = one_stage("t", 1);
  without_function.stages[0].f = nullptr;
  CHECK(message_of<UsageError>([&] { engine.submit(without_function); }) ==
        "stage 'a' of task 't' has no function");
  CHECK_THROWS_AS(engine.submit(one_stage("t", automatic())), UsageError);
  CHECK_THROWS_AS(engine.submit(one_stage("t", 0)), UsageError);
  CHECK_THROWS_AS(engine.submit(one_stage("t", {{.rank = server.ranks(), .workers = 1}})), UsageError);
  Task cyclic = one_stage("t", 1);
  cyclic.after = {TaskId{0}};  // itself
  CHECK_THROWS_AS(engine.submit(cyclic), UsageError);
  CHECK_THROWS_AS(engine.result(TaskId{0}), UsageError);
  CHECK_THROWS_AS(engine.cancel(TaskId{0}), UsageError);
  CHECK(engine.submit_and_wait(one_stage("t", 1)).state == TaskState::done);
  server.close();
}

TEST_CASE("A stage that needs more slots than there are is refused by the run") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  {
    Engine engine(server, {.slots = 2});
    const TaskId wide = engine.submit(one_stage("svrg", 2 * ranks + 1));
    CHECK(message_of<UsageError>([&] { engine.run(); }) ==
          "stage 'a' of task 'svrg' needs " + std::to_string(2 * ranks + 1) + " workers, the run has " +
              std::to_string(2 * ranks) + " slots");
    CHECK(engine.result(wide).state == TaskState::waiting);
  }
  Engine engine(server, {.slots = 2});
  engine.submit(one_stage("svrg", {{.rank = 0, .workers = 3}}));
  CHECK_THROWS_AS(engine.run(), UsageError);
  server.close();
}

TEST_CASE("Ranks that disagree get CollectiveMismatch") {
  ParameterServer server(MPI_COMM_WORLD);
  Engine engine(server, {.slots = 1});
  const std::int32_t own = server.rank().value();
  if (server.ranks() > 1) {
    CHECK_THROWS_AS(engine.submit(one_stage("t", 1, static_cast<std::uint64_t>(own))), CollectiveMismatch);
    CHECK_THROWS_AS(engine.submit(one_stage(own == 0 ? "t" : "u", 1)), CollectiveMismatch);
    CHECK_THROWS_AS(Engine(server, {.slots = 1, .seed = static_cast<std::uint64_t>(own)}),
                    CollectiveMismatch);
  }
  CHECK(engine.submit_and_wait(one_stage("t", 1)).state == TaskState::done);
  server.close();
}

TEST_CASE("Impossible options are refused on the rank that has them, and reported to others") {
  ParameterServer server(MPI_COMM_WORLD);
  CHECK_THROWS_AS(Engine(server, {.slots = 0}), UsageError);
  CHECK_THROWS_AS(Engine(server, {.slots = -1}), UsageError);
  CHECK_THROWS_AS(Engine(server, {.slots = 1, .aging = std::chrono::seconds(0)}), UsageError);
  CHECK_THROWS_AS(Engine(server, {.slots = 1, .min_iterations = 0}), UsageError);
  if (server.ranks() > 1) {
    const std::int32_t slots = server.rank() == Rank(0) ? -1 : 1;
    if (slots < 0) {
      CHECK_THROWS_AS(Engine(server, {.slots = slots}), UsageError);
    } else {
      CHECK_THROWS_AS(Engine(server, {.slots = slots}), PeerFailed);
    }
  }
  server.close();
}
