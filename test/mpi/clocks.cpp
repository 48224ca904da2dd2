// Tables whose staleness is bounded by clocks, over MPI: histories of all workers, gates that block and gates
// that do not.
#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "lapse/core/error.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/elements.hpp"
#include "lapse/ps/function.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/support/catch.hpp"
#include "test/support/clock_history.hpp"
#include "test/support/thrown_text.hpp"

using adapm::IntentWorker;
using adapm::ParameterManager;
using adapm::Technique;
using lapse::Clock;
using lapse::Consistency;
using lapse::Key;
using lapse::Worker;
using lapse::test::ClockHistory;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::options_of;
using lapse::test::thrown_text;

namespace {

lapse::TableOptions counts(std::size_t workers, Consistency consistency) {
  return {.keys = ClockHistory::kKeys, .length = workers, .consistency = consistency};
}

std::int32_t ranks_of_world() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

}  // namespace

TEST_CASE("clocks: reads keep their bound while keys move and replicas come and go") {
  const std::uint32_t staleness = GENERATE(0U, 1U, 3U);
  const Technique technique =
      GENERATE(Technique::adaptive, Technique::replication_only, Technique::relocation_only);
  const std::int32_t workers = 2;
  ParameterManager manager(MPI_COMM_WORLD, options_of(technique));
  const auto all = static_cast<std::size_t>(workers) * static_cast<std::size_t>(ranks_of_world());
  const auto table = manager.create_table<std::int64_t>(counts(all, Consistency::cap(staleness)));
  for (int phase = 0; phase < 2; ++phase) {
    const auto fresh = manager.create_table<std::int64_t>(counts(all, Consistency::cap(staleness)));
    manager.run_workers(workers, [&](IntentWorker& worker) {
      const ClockHistory history(phase == 0 ? table : fresh, staleness, technique == Technique::adaptive);
      history.run(worker, worker.index() % 2 == 0, [&](IntentWorker& by, Key key, Clock start, Clock end) {
        by.intent(phase == 0 ? table : fresh, key, start, end);
      });
    });
  }
  const lapse::TableCounters counters = manager.statistics().server.table_total(table.id());
  CHECK(counters.clocks >= all * ClockHistory::kClocks);
  CHECK(counters.clock_lag_max <= staleness);
  CHECK(counters.clock_lags <= counters.clocks * staleness);
}

TEST_CASE("clocks: a server without a manager keeps the bound, too, with any rule") {
  const int kind = GENERATE(0, 1, 2, 3);
  const Consistency consistency = kind == 0   ? Consistency::bsp
                                  : kind == 1 ? Consistency::cap(2)
                                  : kind == 2 ? Consistency::ssp(2)
                                              : Consistency::essp(1);
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto all = 2 * static_cast<std::size_t>(server.ranks());
  const auto table = server.create_table<std::int64_t>(counts(all, consistency));
  lapse::TableOptions assigned{
      .keys = 1, .update_rule = lapse::UpdateRule::assign(), .consistency = Consistency::bsp};
  const auto last = server.create_table<std::int64_t>(assigned);
  server.run_workers(2, [&](Worker& worker) {
    ClockHistory(table, *consistency.staleness(), true).run(worker, worker.index() % 2 == 1);
    // A table that can have no replicas.
    const std::int64_t one = 1;
    worker.set(last, Key(0), std::span(&one, 1)).wait();
    std::int64_t value = 0;
    worker.pull(last, Key(0), std::span(&value, 1)).wait();
    expect(value == 1, "the value");
  });
}

TEST_CASE("clocks: essp replicates what a domain accesses, and then reads it in memory") {
  lapse::ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  const auto table = server.create_table<std::int64_t>({.keys = 20, .consistency = Consistency::essp(0)});
  const auto ranks = static_cast<std::uint64_t>(server.ranks());
  server.run_workers(1, [&](Worker& worker) {
    std::vector<Key> keys;
    for (std::uint64_t key = 0; key < 20; ++key) keys.emplace_back(key);
    std::vector<std::int64_t> values(20);
    worker.pull(table, keys, values).wait();
    worker.sync_barrier();
    for (std::int64_t clock = 1; clock <= 10; ++clock) {
      worker.push(table, keys, std::vector<std::int64_t>(20, 1));
      worker.advance_clock();
      worker.pull(table, keys, values).wait();
      const std::int64_t least = clock * static_cast<std::int64_t>(ranks);
      for (const std::int64_t value : values) expect(value >= least, "all of the last clock");
    }
  });
  const lapse::TableCounters counters = server.statistics().table_total(table.id());
  CHECK(counters.copies_in == 20 * (ranks - 1));
  CHECK(counters.remote_pulls == 20 * (ranks - 1));
  CHECK(counters.remote_pushes == 0);
  // No key moves: without a manager, all of them stay at their homes.
  CHECK(counters.relocations_in == 0);
  // Changes leave at clocks only: at most one of each replica for each clock, and one at the end.
  CHECK(counters.deltas_out <= 11 * counters.copies_in);
}

TEST_CASE("clocks: ssp fetches what a worker reads at most once in s + 1 clocks") {
  lapse::ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  const auto table =
      server.create_table<std::int64_t>({.keys = 20, .length = 3, .consistency = Consistency::ssp(1)});
  const auto ranks = static_cast<std::uint64_t>(server.ranks());
  server.run_workers(1, [&](Worker& worker) {
    std::vector<Key> keys;
    for (std::uint64_t key = 0; key < 20; ++key) keys.emplace_back(key);
    std::vector<std::int64_t> values(60);
    const std::vector<std::uint32_t> columns(20, 2);
    std::vector<std::int64_t> elements(20);
    for (std::int64_t clock = 0; clock < 10; ++clock) {
      for (int again = 0; again < 3; ++again) {
        worker.pull(table, keys, values).wait();
        worker.pull_elements(table, keys, columns, elements).wait();
        for (std::size_t i = 0; i < keys.size(); ++i) {
          // The own pushes show at once, also in what was read before.
          const std::int64_t least =
              clock + std::max<std::int64_t>(0, clock - 1) * (static_cast<std::int64_t>(ranks) - 1);
          expect(values[3 * i] >= least, "all up to the bound");
          // Of a key in memory, newer pushes of others may show.
          expect(elements[i] >= values[3 * i + 2], "an element of the value");
        }
      }
      worker.push(table, keys, std::vector<std::int64_t>(60, 1));
      worker.advance_clock();
    }
  });
  const lapse::TableCounters counters = server.statistics().table_total(table.id());
  CHECK(counters.copies_in == 0);
  CHECK(counters.remote_pulls >= 100 * (ranks - 1));
  CHECK(counters.remote_pulls <= 200 * (ranks - 1));
}

TEST_CASE("clocks: what an ssp worker keeps ends with a sync_barrier") {
  lapse::ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  const auto table = server.create_table<float>({.keys = 8, .consistency = Consistency::ssp(9)});
  server.run_workers(1, [&](Worker& worker) {
    std::vector<float> value(1);
    for (std::uint64_t key = 0; key < 8; ++key) worker.pull(table, Key(key), value).wait();
    worker.sync_barrier();
    for (std::uint64_t key = 0; key < 8; ++key) worker.push(table, Key(key), std::vector<float>{1});
    worker.sync_barrier();
    for (std::uint64_t key = 0; key < 8; ++key) {
      worker.pull(table, Key(key), value).wait();
      expect(value[0] == static_cast<float>(worker.count()), "all pushes");
    }
  });
}

TEST_CASE("clocks: what an ssp worker keeps gives way to its own other changes") {
  lapse::ParameterServer server(MPI_COMM_WORLD, lapse::test::ranks_alone());
  const auto table = server.create_table<float>({.keys = 4, .length = 2, .consistency = Consistency::ssp(5)});
  const auto increase =
      server.register_function<float>("increase", [](Key, std::span<float> value) { value[0] += 7; });
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() > 0) return;
    std::vector<float> value(2);
    float expected = 0;
    const auto check = [&](Key key, const char* what) {
      worker.pull(table, key, value).wait();
      expect(value[0] == expected, what);
    };
    for (std::uint64_t number = 0; number < 4; ++number) {
      const Key key(number);
      const std::vector<Key> keys{key};
      expected = 0;
      check(key, "the initial value");
      worker.push(table, key, std::vector<float>{1, 1});
      expected = 1;
      check(key, "a push");
      worker.push_elements(table, key, std::vector<std::uint32_t>{0}, std::vector<float>{2});
      expected = 3;
      check(key, "a push of an element");
      worker.call(table, increase, keys);
      expected = 10;
      check(key, "a call");
      worker.set(table, key, std::vector<float>{4, 4});
      expected = 4;
      check(key, "a set");
      {
        lapse::Lease lease = worker.lease(table, keys);
        lease.values(table)[0][0] = 5;
        lease.release();
      }
      expected = 5;
      check(key, "a lease");
      expect(worker.update_if_local(table, key, [](std::span<float> local) { local[0] = 6; }), "a local key");
      expected = 6;
      check(key, "a change in place");
    }
  });
}

TEST_CASE("clocks: essp is refused with techniques that do not replicate") {
  for (const Technique technique : {Technique::relocation_only, Technique::nups, Technique::localize}) {
    ParameterManager manager(MPI_COMM_WORLD, options_of(technique));
    CHECK(contains(thrown_text<lapse::ConfigurationError>([&] {
                     manager.create_table<double>({.keys = 1, .consistency = Consistency::essp(1)});
                   }),
                   "does not replicate"));
  }
  ParameterManager manager(MPI_COMM_WORLD, options_of(Technique::adaptive));
  const auto table = manager.create_table<std::int64_t>(
      counts(2 * static_cast<std::size_t>(ranks_of_world()), Consistency::essp(1)));
  manager.run_workers(2, [&](IntentWorker& worker) {
    const ClockHistory history(table, 1, true);
    history.run(worker, worker.index() % 2 == 0, [&](IntentWorker& by, Key key, Clock start, Clock end) {
      by.intent(table, key, start, end);
    });
  });
}

TEST_CASE("clocks: workers stop where the bound says, not earlier, and continue when a slow one returns") {
  constexpr std::int64_t kStaleness = 2;
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(counts(1, Consistency::cap(kStaleness)));
  const auto free = server.create_table<std::int64_t>({.keys = 1});
  server.run_workers(2, [&](Worker& worker) {
    const bool slow = worker.index() == 0;
    std::int64_t value = 0;
    const std::span<std::int64_t> to(&value, 1);
    // While the slow worker is at clock 0, the others pass up to clock kStaleness.
    if (!slow) {
      for (std::int64_t clock = 0; clock <= kStaleness; ++clock) {
        worker.pull(table, Key(0), to).wait();
        if (clock < kStaleness) worker.advance_clock();
      }
      worker.advance_clock();
      // Now they must not, and an access that never waits says so. Other tables are open.
      expect(!worker.pull_if_local(table, Key(0), to), "a read ahead of the bound");
      expect(!worker.update_if_local(table, Key(0), [](std::span<std::int64_t>) {}),
             "an update ahead of the bound");
      worker.pull(free, Key(0), to).wait();
    }
    worker.barrier();
    if (slow) {
      worker.advance_clock();
    } else {
      worker.pull(table, Key(0), to).wait();
      worker.push(table, Key(0), std::vector<std::int64_t>{1});
    }
    worker.barrier();
    // A worker that has returned holds up no other.
    if (slow) return;
    for (int clock = 0; clock < 10; ++clock) {
      worker.advance_clock();
      worker.pull(table, Key(0), to).wait();
    }
  });
}

TEST_CASE("clocks: a lease waits before it is requested, and no clock advances under it") {
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(counts(1, Consistency::bsp));
  server.run_workers(1, [&](Worker& worker) {
    for (int clock = 0; clock < 5; ++clock) {
      {
        lapse::Lease lease = worker.lease(table, std::vector<Key>{Key(0), Key(1)});
        ++lease.values(table)[0][0];
        expect(contains(thrown_text<lapse::UsageError>([&] { worker.advance_clock(); }),
                        "while it holds a lease"),
               "an advance under a lease");
        lease.release();
      }
      worker.advance_clock();
      std::int64_t value = 0;
      worker.pull(table, Key(0), std::span(&value, 1)).wait();
      expect(value >= static_cast<std::int64_t>(worker.count()) * (clock + 1), "all of the last clock");
    }
  });
}

TEST_CASE("clocks: a worker that fails opens the gates of all others") {
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(counts(1, Consistency::bsp));
  const auto run = [&] {
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() == worker.count() - 1) throw std::runtime_error("worn out");
      std::int64_t value = 0;
      worker.advance_clock();
      for (;;) {
        worker.pull(table, Key(0), std::span(&value, 1)).wait();
        worker.advance_clock();
      }
    });
  };
  CHECK(contains(thrown_text<lapse::PeerFailed>(run), "worn out"));
}

TEST_CASE("clocks: policies and phases that cannot be are refused") {
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const std::uint32_t staleness = server.ranks() > 1 && server.rank().value() == 0 ? 1 : 2;
  if (server.ranks() > 1) {
    CHECK(contains(thrown_text<lapse::CollectiveMismatch>(
                       [&] { server.create_table<std::int64_t>(counts(1, Consistency::cap(staleness))); }),
                   "cap("));
  }
}
