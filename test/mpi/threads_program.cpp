// Threads of the application as workers, under the thread level of the argument: single (plain MPI_Init),
// funneled or serialized.
#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "test/mpi/attached_at_any_time.hpp"
#include "test/mpi/server_expect.hpp"

namespace {

using namespace lapse;
using lapse::test::expect;

constexpr std::uint64_t kKeys = 60;
constexpr std::size_t kLength = 3;
constexpr int kRounds = 20;

template <class Failure, class F>
void expect_error(F&& f, std::string_view text) {
  try {
    f();
  } catch (const Failure& error) {
    expect(std::string_view(error.what()).find(text) != std::string_view::npos, error.what());
    return;
  }
  expect(false, "an error with the text " + std::string(text));
}

using Values = std::vector<std::int64_t>;

// Adds kRounds to every key, by each worker, and checks the sum.
void add_and_check(Worker& worker, const Table<std::int64_t>& table, std::int64_t before) {
  const auto keys = lapse::test::key_range(0, kKeys);
  const Values ones(kKeys * kLength, 1);
  for (int round = 0; round < kRounds; ++round) {
    worker.localize(table, std::span(keys).subspan(worker.index() * 7 % (kKeys - 7), 7));
    worker.push(table, keys, ones).wait();
  }
  worker.barrier();
  Values values(kKeys * kLength);
  worker.pull(table, keys, values).wait();
  const std::int64_t added = kRounds * static_cast<std::int64_t>(worker.count());
  expect(values == Values(kKeys * kLength, before + added), "the sum of all pushes");
  std::array<std::int64_t, 1> workers = {1};
  worker.all_reduce(workers);
  expect(workers[0] == static_cast<std::int64_t>(worker.count()), "the number of workers");
  worker.barrier();
}

// Whether this process has a thread with the name.
bool has_thread(std::string_view name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream in(task.path() / "comm");
    std::string own;
    std::getline(in, own);
    if (own == name) return true;
  }
  return false;
}

struct Fixture {
  bool serialized = false;
  ParameterServer server{MPI_COMM_WORLD};
  Table<std::int64_t> table = server.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  std::int64_t sum = 0;

  // Checks the sum after `workers` workers of all ranks have added.
  void added(std::int32_t workers) { sum += std::int64_t{kRounds} * workers; }
};

void on_the_calling_thread(Fixture& fixture) {
  for (int phase = 0; phase < 3; ++phase) {
    const std::thread::id here = std::this_thread::get_id();
    fixture.server.run_here([&](Worker& worker) {
      expect(std::this_thread::get_id() == here, "the worker is the calling thread");
      add_and_check(worker, fixture.table, fixture.sum);
      fixture.server.progress(std::chrono::milliseconds(1));
    });
    fixture.added(fixture.server.ranks());
  }
}

void no_threads(Fixture& fixture) {
  expect_error<MpiStateError>([&] { fixture.server.run_workers(1, [](Worker&) {}); }, "MPI_THREAD_SINGLE");
  expect_error<MpiStateError>([&] { fixture.server.start_progress(1); }, "run_here");
}

// Each rank begins the phase by a different call.
void mixed(Fixture& fixture) {
  const auto f = [&](Worker& worker) { add_and_check(worker, fixture.table, fixture.sum); };
  if (fixture.server.rank().value() % 2 == 0) {
    fixture.server.run_here(f);
  } else {
    fixture.server.run_workers(2, f);
  }
  fixture.added(fixture.server.ranks() + fixture.server.ranks() / 2);
}

// Runs each function on a thread, while this thread drives the engine if no other does.
void run_threads(ParameterServer& server, const std::vector<std::function<void()>>& functions) {
  std::atomic<std::size_t> running{functions.size()};
  std::vector<std::thread> threads;
  threads.reserve(functions.size());
  for (const auto& function : functions) {
    threads.emplace_back([&] {
      function();
      --running;
    });
  }
  while (running > 0) {
    server.progress(std::chrono::milliseconds(1));
    std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
}

void attached(Fixture& fixture) {
  constexpr std::int32_t kThreads = 3;
  ParameterServer& server = fixture.server;
  const bool served = fixture.serialized;
  expect_error<UsageError>([&] { static_cast<void>(server.attach()); }, "not between start_progress");
  expect_error<UsageError>([&] { server.stop_progress(); }, "without start_progress");
  expect_error<UsageError>([&] { server.progress(); }, "while no workers run");
  server.start_progress(kThreads);
  expect_error<UsageError>([&] { server.run_workers(1, [](Worker&) {}); }, "while workers run");
  for (int round = 0; round < 2; ++round) {
    std::vector<std::function<void()>> functions;
    for (std::size_t place = 0; place < kThreads; ++place) {
      functions.emplace_back([&, place] {
        const AttachedWorker worker = server.attach(place);
        expect(worker->local_index() == place, "the place that was asked for");
        add_and_check(*worker, fixture.table, fixture.sum);
      });
    }
    run_threads(server, functions);
    fixture.added(kThreads * server.ranks());
  }
  {
    // The starting thread is a worker, too.
    const AttachedWorker first = server.attach();
    AttachedWorker second = server.attach();
    expect(first->local_index() == 0 && second->local_index() == 1, "the first places that are free");
    expect_error<UsageError>([&] { static_cast<void>(server.attach(1)); }, "place 1 is taken");
    expect_error<UsageError>([&] { static_cast<void>(server.attach(7)); }, "start_progress was called for 3");
    expect_error<UsageError>([&] { server.stop_progress(); }, "while 2 of 3 workers are attached");
    const auto keys = lapse::test::key_range(0, kKeys);
    Values values(kKeys * kLength);
    first->pull(fixture.table, keys, values).wait();
    expect(values == Values(kKeys * kLength, fixture.sum), "the values of the rounds before");
    second.detach();
    expect(server.attach()->local_index() == 1, "a place that is free again");
  }
  expect(has_thread("lapse-server") == served, "a thread of the server, with its name");
  server.stop_progress();
}

// The application's own messages circulate while workers run.
void own_messages(Fixture& fixture, bool serialized) {
  ParameterServer& server = fixture.server;
  const int rank = server.rank().value();
  const int ranks = server.ranks();
  int received = -1;
  const auto exchange = [&] {
    MPI_Request requests[2];
    {
      const MpiCalls calls = server.mpi_calls();
      MPI_Irecv(&received, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD, &requests[1]);
    }
    for (int done = 0; done == 0; std::this_thread::yield()) {
      const MpiCalls calls = server.mpi_calls();
      MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    }
  };
  server.start_progress(1);
  run_threads(server, {[&] {
                const AttachedWorker worker = server.attach();
                if (serialized) {
                  exchange();
                } else {
                  expect_error<UsageError>([&] { static_cast<void>(server.mpi_calls()); }, "only that one");
                  expect_error<UsageError>([&] { server.progress(); }, "only that one");
                  expect_error<UsageError>([&] { server.close(); }, "only that one");
                  expect_error<UsageError>([&] { server.run_here([](Worker&) {}); }, "only that one");
                }
                add_and_check(*worker, fixture.table, fixture.sum);
              }});
  if (!serialized) exchange();
  server.stop_progress();
  fixture.added(ranks);
  expect(received == (rank + ranks - 1) % ranks, "the application's own message");
}

// Intents of a thread stay with its slot, where the next thread continues.
void managed(bool threads) {
  adapm::ParameterManager manager(MPI_COMM_WORLD);
  const auto table = manager.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  std::int64_t batches = 0;
  const auto train = [&](adapm::IntentWorker& worker) {
    expect(worker.current_clock() == Clock(batches), "the clock of its place");
    const auto keys = lapse::test::key_range(worker.index() * 5 % kKeys, worker.index() * 5 % kKeys + 5);
    const Values ones(keys.size() * kLength, 1);
    for (std::int64_t batch = batches; batch < batches + kRounds; ++batch) {
      const Clock now(batch);
      worker.intent(table, keys, now, Clock(now.value() + 3));
      worker.push(table, keys, ones).wait();
      worker.advance_clock();
    }
  };
  std::int64_t workers = 0;
  if (threads) {
    manager.start_progress(2);
    for (int round = 0; round < 2; ++round) {
      const auto thread = [&](std::size_t place) { return [&, place] { train(*manager.attach(place)); }; };
      run_threads(manager.server(), {thread(0), thread(1)});
      batches += kRounds;
    }
    manager.stop_progress();
    workers = std::int64_t{2} * manager.ranks();
  }
  Values sums(kKeys * kLength);
  const std::int64_t rounds = threads ? 2 * kRounds : kRounds;
  if (!threads) {
    manager.run_here(train);
    workers = manager.ranks();
  }
  manager.run_here([&](adapm::IntentWorker& worker) {
    worker.sync_barrier();
    worker.pull(table, lapse::test::key_range(0, kKeys), sums).wait();
    worker.barrier();
  });
  Values expected(kKeys * kLength, 0);
  for (std::int64_t worker = 0; worker < workers; ++worker)
    for (std::size_t i = 0; i < 5 * kLength; ++i)
      expected[static_cast<std::size_t>(worker) * 5 % kKeys * kLength + i] += rounds;
  expect(sums == expected, "the sum of all pushes");
  manager.close();
}

// Below MPI_THREAD_SERIALIZED, calls of a thread that has not initialised MPI are refused before they reach
// MPI.
void another_thread(Fixture& fixture) {
  ParameterServer& server = fixture.server;
  std::thread([&] {
    const char* const text = "another thread than the one";
    expect_error<MpiStateError>([] { ParameterServer(MPI_COMM_WORLD).close(); }, text);
    expect_error<UsageError>([&] { server.create_table<float>({.keys = 1}); }, text);
    expect_error<UsageError>([&] { server.statistics(); }, text);
    expect_error<UsageError>([&] { server.exchange("a call", [] { return std::string(); }); }, text);
    expect_error<UsageError>([&] { server.close(); }, text);
  }).join();
}

// An error of one worker ends the phase on every rank, with the thread's message if it gives one.
void failure(bool has_text) {
  Fixture fixture;
  ParameterServer& server = fixture.server;
  server.start_progress(2);
  const auto work = [&](bool fails) {
    try {
      AttachedWorker worker = server.attach();
      if (fails && has_text) worker.fail(std::make_exception_ptr(std::runtime_error("the application's")));
      if (fails) throw std::runtime_error("the application's");
      worker->barrier();
      expect(false, "the barrier has let a worker pass");
    } catch (const PeerFailed&) {
      expect(!fails, "the exception of the application is kept");
    } catch (const std::runtime_error& error) {
      expect(fails, error.what());
    }
  };
  const bool last = server.rank().value() == server.ranks() - 1;
  run_threads(server, {[&] { work(last); }, [&] { work(false); }});
  expect_error<PeerFailed>([&] { server.stop_progress(); },
                           has_text ? "the application's" : "an exception of the application");
  server.close();
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view level = count == 2 ? arguments[1] : "";
  lapse::prepare_mpi_environment();
  if (level == "single") {
    MPI_Init(nullptr, nullptr);
  } else {
    const int required = level == "funneled" ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED;
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, required, &provided);
    if (provided != required) {
      std::fprintf(stderr, "MPI provides another thread level\n");
      return EXIT_FAILURE;
    }
  }
  try {
    Fixture fixture;
    fixture.serialized = level == "serialized";
    on_the_calling_thread(fixture);
    if (!fixture.serialized) another_thread(fixture);
    if (level == "single") {
      no_threads(fixture);
      managed(false);
      on_the_calling_thread(fixture);
    } else {
      mixed(fixture);
      attached(fixture);
      if (fixture.serialized && fixture.server.rank() == Rank(0)) lapse::test::attached_at_any_time();
      own_messages(fixture, level == "serialized");
      mixed(fixture);
      managed(true);
      for (const bool has_text : {false, true}) failure(has_text);
    }
    fixture.server.close();
    std::thread([&] { expect_error<ClosedError>([&] { fixture.server.close(); }, "after close"); }).join();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
