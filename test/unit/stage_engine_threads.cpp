// An engine of stages whose ranks are threads of one process. Also runs under ThreadSanitizer.
#include <array>
#include <exception>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lapse/stage/engine.hpp"
#include "lapse/transport/loopback/threaded_network.hpp"
#include "test/support/catch.hpp"
#include "test/support/simulation_borrowed_transport.hpp"

using namespace lapse;
using namespace lapse::stage;
using lapse::test::BorrowedTransport;

namespace {

constexpr std::int32_t kRanks = 3;
constexpr std::uint64_t kTasks = 6;

void expect(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

// Wide and narrow stages that move the task's key about, and push to it.
Task task_with(const Table<std::int64_t>& table, std::uint64_t number) {
  const Key key(number);
  const auto wide = [=](Info& info) {
    const std::array<std::int64_t, 1> one{1};
    for ([[maybe_unused]] const std::uint64_t iteration : info.iterations()) {
      info.worker().localize(table, key);
      info.worker().push(table, key, one);
      info.worker().barrier();
    }
    info.local<std::vector<int>>().push_back(1);
  };
  const auto narrow = [=](Info& info) {
    std::array<std::int64_t, 1> value{};
    info.worker().pull(table, key, value).wait();
    expect(value[0] == 60 * static_cast<std::int64_t>(info.epoch() + 1), "the pushes of the stage before");
    if (number % 3 == 2 && info.epoch() == 1) throw std::runtime_error("a failure");
  };
  return {.name = "task" + std::to_string(number),
          .repeat = 4,
          .stages = {{.name = "wide", .f = wide, .workers = 3, .iterations = 20},
                     {.name = "narrow", .f = narrow, .workers = 1}}};
}

void run_rank(Transport& transport, std::int32_t slots) {
  Options options;
  options.startup_report = false;
  options.log_level = LogLevel::error;
  ParameterServer server(std::make_unique<BorrowedTransport>(transport), options);
  const auto table = server.create_table<std::int64_t>({.keys = kTasks, .length = 1});
  EngineOptions engine_options;
  engine_options.slots = slots;
  engine_options.part_time = std::chrono::milliseconds(1);
  Engine engine(server, engine_options);
  std::vector<TaskId> tasks;
  for (std::uint64_t number = 0; number < kTasks; ++number)
    tasks.push_back(engine.submit(task_with(table, number)));
  if (server.rank() == Rank(1)) engine.cancel(tasks[4]);
  expect(engine.run() == RunEnd::finished, "all tasks end");
  for (std::uint64_t number = 0; number < kTasks; ++number) {
    const TaskResult& result = engine.result(tasks[number]);
    if (number == 4) {
      expect(result.state == TaskState::cancelled, "the task that was cancelled");
    } else {
      expect(result.state == (number % 3 == 2 ? TaskState::failed : TaskState::done), "the task's end");
    }
  }
  server.close();
}

}  // namespace

TEST_CASE("Threads: tasks of stages share the slots of ranks, and none sees another") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    ThreadedLoopback network(kRanks, {.separate_bulk_lane = true, .delay_seed = seed});
    std::array<std::exception_ptr, kRanks> errors;
    std::vector<std::thread> threads;
    threads.reserve(kRanks);
    for (std::int32_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          run_rank(network.endpoint(Rank(rank)), rank == 1 ? 0 : 2);
        } catch (...) {
          errors[static_cast<std::size_t>(rank)] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
      if (error) CHECK_NOTHROW(std::rethrow_exception(error));
  }
}
