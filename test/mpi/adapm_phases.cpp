// Intents, replicas and clocks across phases, and several managers in one process.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Clock;
using lapse::Key;
using lapse::TableCounters;
using lapse::test::copied_keys;
using lapse::test::copied_table;
using lapse::test::expect;
using lapse::test::make_local;
using lapse::test::options_of;

namespace {

constexpr std::uint64_t kKeys = 30;
using Values = std::vector<std::int64_t>;

std::uint64_t domains() {
  return static_cast<std::uint64_t>(lapse::test::domains_of_world().domains());
}

// Makes intents, pushes and clock advances by every worker. Returns how much each worker has added to each
// key.
void work(IntentWorker& worker, const lapse::Table<std::int64_t>& table, const std::vector<Key>& keys) {
  const std::int64_t begin = worker.current_clock().value();
  worker.intent(table, keys, Clock(begin), Clock(begin + 1000));
  for (std::int64_t clock = 0; clock < 5; ++clock) {
    for (const Key key : keys) worker.push(table, key, Values{1});
    worker.advance_clock();
  }
  expect(worker.current_clock() == Clock(begin + 5), "a clock that goes on");
}

void expect_all(IntentWorker& worker, const lapse::Table<std::int64_t>& table, const std::vector<Key>& keys,
                std::int64_t sum) {
  worker.barrier();
  Values values(keys.size());
  worker.sync_barrier();
  worker.pull(table, keys, values).wait();
  expect(values == Values(keys.size(), sum),
         "the sum " + std::to_string(sum) + ", found " + std::to_string(values[0]));
  worker.barrier();
}

}  // namespace

TEST_CASE("Intents end with their phase, and so do the copies that they made") {
  for (const Technique technique : {Technique::adaptive, Technique::replication_only, Technique::immediate}) {
    INFO(to_string(technique));
    ParameterManager manager(MPI_COMM_WORLD, options_of(technique));
    const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
    const auto keys = copied_keys(false, kKeys, manager.ranks());
    std::int64_t sum = 0;
    std::uint64_t copies = 0;
    for (const std::int32_t workers : {1, 3, 0, 2}) {
      // In phases without workers on most ranks, the first rank has two.
      const std::int32_t own = workers == 0 && manager.rank().value() == 0 ? 2 : workers;
      const std::int64_t all = workers == 0 ? 2 : workers * manager.ranks();
      sum += 5 * all;
      manager.run_workers(own, [&](IntentWorker& worker) {
        make_local(worker, table, keys);
        work(worker, table, keys);
        expect_all(worker, table, keys, sum);
      });
      const TableCounters total = manager.statistics().server.table_total(table.id());
      CHECK(total.copies_here == 0);
      CHECK(total.keys_here == kKeys);
      // The next phase makes new replicas.
      if (technique == Technique::replication_only && workers != 0)
        CHECK(total.copies_in - copies == (domains() - 1) * kKeys);
      copies = total.copies_in;
    }
    manager.close();
  }
}

TEST_CASE("Copies that a technique keeps from the start last from phase to phase, until close") {
  for (const Technique technique : {Technique::full_replication, Technique::nups}) {
    INFO(to_string(technique));
    Options options = options_of(technique);
    options.nups_factor = 2;
    ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
    const auto all_keys = copied_keys(false, kKeys, manager.ranks());
    std::vector<Key> keys = all_keys;
    if (technique == Technique::nups) {
      keys = {Key(3), Key(4)};
      std::vector<std::uint64_t> counts(kKeys, 1);
      for (const Key key : keys) counts[key.index()] = 1000;
      manager.set_frequencies(table, counts);
    }
    std::int64_t sum = 0;
    for (const std::int32_t workers : {1, 2, 1}) {
      const TableCounters before = manager.statistics().server.table_total(table.id());
      sum += 5 * workers * manager.ranks();
      manager.run_workers(workers, [&](IntentWorker& worker) {
        if (before.copies_in > 0)
          for (const Key key : keys)
            expect(worker.locality(table, key) == lapse::Locality::local, "a copy of the last phase");
        work(worker, table, keys);
        expect_all(worker, table, keys, sum);
      });
      const TableCounters after = manager.statistics().server.table_total(table.id());
      CHECK(after.copies_here == (domains() - 1) * keys.size());
      if (before.copies_in > 0) {
        CHECK(after.copies_in == before.copies_in);
        CHECK(after.remote_pulls == before.remote_pulls);
      }
    }
    // The replicas exist when the manager is closed.
    manager.close();
  }
}

TEST_CASE("A technique that does not replicate a key never has a copy of it") {
  for (const Technique technique : {Technique::relocation_only, Technique::nups}) {
    INFO(to_string(technique));
    ParameterManager manager(MPI_COMM_WORLD, options_of(technique));
    const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
    const auto keys = copied_keys(false, kKeys, manager.ranks());
    manager.run_workers(1, [&](IntentWorker& worker) {
      work(worker, table, keys);
      expect_all(worker, table, keys, 5 * manager.ranks());
    });
    const TableCounters total = manager.statistics().server.table_total(table.id());
    CHECK(total.copies_in == 0);
    CHECK(total.copies_out == 0);
    if (domains() > 1) CHECK(total.relocations_in > 0);
    manager.close();
  }
}

TEST_CASE("Rounds follow by themselves, from the first phase on") {
  ParameterManager manager(MPI_COMM_WORLD, Options::from_environment());
  const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
  for (int phase = 0; phase < 2; ++phase) {
    manager.run_workers(1, [&](IntentWorker& worker) {
      const std::vector<Key> keys = copied_keys(false, kKeys, manager.ranks());
      const Clock now = worker.current_clock();
      worker.intent(table, keys, now, Clock(now.value() + 1));
      const auto begin = std::chrono::steady_clock::now();
      // No call of the loop enters the server.
      const auto all_local = [&] {
        return std::ranges::all_of(
            keys, [&](Key key) { return worker.locality(table, key) == lapse::Locality::local; });
      };
      while (!all_local() && std::chrono::steady_clock::now() - begin < std::chrono::seconds(20))
        std::this_thread::yield();
      expect(all_local(), "keys that came without a call");
      worker.barrier();
    });
  }
  manager.close();
}

TEST_CASE("Managers with copies of their own work by turns in one process") {
  ParameterManager first(MPI_COMM_WORLD, options_of(Technique::replication_only));
  ParameterManager second(MPI_COMM_WORLD, options_of(Technique::full_replication));
  const auto a = first.create_table<std::int64_t>(copied_table(false, kKeys, first.ranks()));
  const auto b = second.create_table<std::int64_t>(copied_table(false, kKeys, first.ranks()));
  const auto keys = copied_keys(false, kKeys, first.ranks());
  for (int phase = 1; phase <= 3; ++phase) {
    first.run_workers(1, [&](IntentWorker& worker) {
      make_local(worker, a, keys);
      work(worker, a, keys);
      bool refused = false;
      try {
        worker.intent(b, keys, Clock(0), Clock(100));
      } catch (const lapse::UsageError&) {
        refused = true;
      }
      expect(refused, "a table of the other manager is refused");
      expect_all(worker, a, keys, 5 * phase * static_cast<std::int64_t>(worker.count()));
    });
    second.run_workers(2, [&](IntentWorker& worker) {
      work(worker, b, keys);
      expect_all(worker, b, keys, 5 * phase * static_cast<std::int64_t>(worker.count()));
    });
  }
  CHECK(first.statistics().server.table_total(a.id()).copies_here == 0);
  CHECK(second.statistics().server.table_total(b.id()).copies_here == (domains() - 1) * kKeys);
  first.close();
  CHECK(second.statistics().server.table_total(b.id()).copies_here == (domains() - 1) * kKeys);
  second.run_workers(1, [&](IntentWorker& worker) { work(worker, b, keys); });
  second.close();
}

TEST_CASE("A worker of a manager that the application has kept refuses calls after its end") {
  ParameterManager manager(MPI_COMM_WORLD, Options::from_environment());
  const auto table = manager.create_table<std::int64_t>(copied_table(false, kKeys, manager.ranks()));
  IntentWorker* kept = nullptr;
  const auto check = [&] {
    Values value{0};
    CHECK_THROWS_AS(kept->push(table, Key(0), value), lapse::UsageError);
    CHECK_THROWS_AS(kept->pull(table, Key(0), value).wait(), lapse::UsageError);
    CHECK_THROWS_AS(kept->advance_clock(), lapse::UsageError);
    CHECK_THROWS_AS(kept->barrier(), lapse::UsageError);
  };
  manager.run_here([&](IntentWorker& worker) { kept = &worker; });
  check();
  // Intents belong to the phase, not to the thread.
  CHECK_THROWS_AS(kept->intent(table, Key(0), Clock(0), Clock(100)), lapse::UsageError);
  manager.run_here([&](IntentWorker&) { check(); });
  manager.start_progress(1);
  AttachedIntentWorker attached = manager.attach();
  kept = &*attached;
  attached.detach();
  check();
  manager.stop_progress();
  check();
  manager.close();
}
