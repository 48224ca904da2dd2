// Tables whose staleness is bounded by clocks, used by threads of the application that attach and detach.
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "adapm/attached_intent_worker.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/ps/access/worker_core.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

constexpr std::int32_t kPlaces = 2;

std::int64_t level_of(Worker& worker) {
  return worker.core().endpoint().level().clock();
}

// The value of a worker's key: its clock, and 1 while it is attached. Every other worker that is attached
// must be seen at a clock that the bound allows.
void check(Worker& worker, const Table<std::int64_t>& table, std::int64_t staleness) {
  std::vector<Key> keys;
  for (std::uint64_t key = 0; key < worker.count(); ++key) keys.emplace_back(key);
  std::vector<std::int64_t> seen(2 * keys.size());
  worker.pull(table, keys, seen).wait();
  const std::int64_t clock = level_of(worker);
  for (std::size_t other = 0; other < keys.size(); ++other) {
    if (seen[2 * other + 1] == 0) continue;
    const bool is_right =
        other == worker.index() ? seen[2 * other] == clock : seen[2 * other] >= clock - staleness;
    if (!is_right) {
      throw std::logic_error("worker " + std::to_string(worker.index()) + " at clock " +
                             std::to_string(clock) + " sees worker " + std::to_string(other) + " at " +
                             std::to_string(seen[2 * other]));
    }
  }
}

// Attaches for some clocks, and detaches.
void live(ParameterServer& server, std::size_t place, const Table<std::int64_t>& table,
          std::int64_t staleness, int clocks) {
  AttachedWorker attached = server.attach(place);
  Worker& worker = *attached;
  const Key key(worker.index());
  std::vector<std::int64_t> last(2);
  worker.pull(table, key, last).wait();
  worker.push(table, key, std::vector<std::int64_t>{level_of(worker) - last[0], 1}).wait();
  for (int i = 0; i < clocks; ++i) {
    if (i % 3 == 1) worker.localize(table, key);
    check(worker, table, staleness);
    worker.push(table, key, std::vector<std::int64_t>{1, 0});
    worker.advance_clock();
  }
  worker.push(table, key, std::vector<std::int64_t>{0, -1});
  attached.detach();
}

}  // namespace

TEST_CASE("clocks: workers attach late and detach early, and the bound holds for those that are there") {
  const auto* const name = GENERATE("bsp", "cap(2)", "ssp(1)", "essp(1)");
  CAPTURE(name);
  const Consistency consistency = Consistency::parse(name);
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_SERIALIZED) return;
  ParameterServer server(MPI_COMM_WORLD);
  const auto staleness = static_cast<std::int64_t>(*consistency.staleness());
  const auto table =
      server.create_table<std::int64_t>({.keys = static_cast<std::uint64_t>(kPlaces * server.ranks()),
                                         .length = 2,
                                         .consistency = consistency});
  for (int phase = 0; phase < 2; ++phase) {
    server.start_progress(kPlaces);
    std::vector<std::string> failures(kPlaces);
    std::vector<std::thread> threads;
    for (std::size_t place = 0; place < kPlaces; ++place) {
      threads.emplace_back([&, place] {
        try {
          for (int time = 0; time < 4; ++time) {
            std::this_thread::yield();
            live(server, place, table, staleness, 3 + 5 * ((time + server.rank().value()) % 3));
          }
        } catch (const std::exception& failure) {
          failures[place] = failure.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    server.stop_progress();
    for (const std::string& failure : failures) CHECK(failure.empty());
    // The next phase counts from 0 again.
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() != 0) return;
      for (std::uint64_t key = 0; key < table.keys(); ++key)
        worker.set(table, Key(key), std::vector<std::int64_t>{0, 0});
    });
  }
  server.close();
}

TEST_CASE(
    "values: who attaches in a place waits until all copies show what the last worker there has pushed") {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_SERIALIZED) return;
  adapm::ParameterManager manager(MPI_COMM_WORLD, {.server = Options::from_environment(),
                                                   .technique = adapm::Technique::full_replication});
  const auto table =
      manager.create_table<double>({.keys = 3, .length = 1, .consistency = Consistency::vap({.bound = 1})});
  manager.start_progress(1);
  Level need = 0;
  for (int time = 0; time < 20; ++time) {
    auto worker = manager.attach();
    const GroupLevels& levels = *worker->core().phase().levels;
    CHECK(levels.visible() >= need);
    worker->push(table, Key(static_cast<std::uint64_t>(time) % 3), std::vector<double>{1});
    worker->wait_all();
    need = levels.need(true);
    worker.detach();
  }
  manager.stop_progress();
  manager.close();
}

TEST_CASE("clocks: ranks without attached workers hold up no other, also beside a rank that runs its own") {
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_SERIALIZED) return;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table =
      server.create_table<std::int64_t>({.keys = 4, .length = 1, .consistency = Consistency::bsp});
  const auto count = [&](Worker& worker, int clocks) {
    for (int clock = 0; clock < clocks; ++clock) {
      const std::int64_t one = 1;
      worker.push(table, Key(0), std::span(&one, 1));
      std::int64_t seen = 0;
      worker.pull(table, Key(0), std::span(&seen, 1)).wait();
      worker.advance_clock();
    }
  };
  if (server.rank() == Rank(0)) {
    server.run_workers(2, [&](Worker& worker) { count(worker, 40); });
  } else {
    server.start_progress(kPlaces);
    // The last rank attaches none.
    if (server.rank().value() + 1 < server.ranks()) {
      std::thread thread([&] {
        AttachedWorker worker = server.attach();
        count(*worker, 10);
      });
      thread.join();
    }
    server.stop_progress();
  }
  std::int64_t sum = 0;
  server.run_workers(1, [&](Worker& worker) { worker.pull(table, Key(0), std::span(&sum, 1)).wait(); });
  CHECK(sum == 80 + 10 * std::max(0, server.ranks() - 2));
  server.close();
}
