// A parameter manager and its workers: lifetime, phases, clocks, statistics.
#include "adapm/parameter_manager.hpp"
#include "lapse/core/statistics.hpp"

#include <mpi.h>

#include <thread>

#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using Catch::Matchers::Contains;
using lapse::Clock;
using lapse::Key;
using lapse::Rank;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::options_of;

namespace {

constexpr std::uint64_t kKeys = 60;

}  // namespace

TEST_CASE("A worker of a manager is a worker of its server, with a clock and intents") {
  ParameterManager manager(MPI_COMM_WORLD);
  const auto table = manager.create_table<std::int64_t>({.name = "counts", .keys = kKeys});
  manager.run_workers(2, [&](IntentWorker& worker) {
    const auto keys = key_range(0, kKeys);
    expect(worker.current_clock() == Clock(0), "a clock at 0");
    worker.intent(table, keys, Clock(0), Clock(3));
    worker.intent(table, KeyRange{Key(3), Key(9)}, Clock(1), Clock(2), IntentType::read_only);
    worker.intent(table, Key(59), Clock(2), Clock(4));
    for (std::int64_t clock = 1; clock <= 4; ++clock) {
      worker.push(table, keys, std::vector<std::int64_t>(kKeys, 1));
      worker.push(table, Key(7), std::vector<std::int64_t>{10});
      worker.advance_clock();
      expect(worker.current_clock() == Clock(clock), "a clock that was advanced");
    }
    worker.sync_barrier();
    // An IntentWorker can be passed where a Worker is expected.
    [&](lapse::Worker& base) {
      std::vector<std::int64_t> values(kKeys);
      base.pull(table, keys, values).wait();
      const std::int64_t workers = 2 * static_cast<std::int64_t>(base.ranks());
      expect(base.count() == static_cast<std::size_t>(workers), "two workers on each rank");
      for (std::uint64_t key = 0; key < kKeys; ++key)
        expect(values[key] == workers * (key == 7 ? 44 : 4), "the sum of all pushes");
    }(worker);
  });
  const Statistics statistics = manager.statistics();
  const IntentCounters total = statistics.intents.total();
  const auto workers = 2 * static_cast<std::uint64_t>(manager.ranks());
  CHECK(statistics.intents.ranks.size() == static_cast<std::size_t>(manager.ranks()));
  CHECK(total.intents == 3 * workers);
  CHECK(total.keys == (kKeys + 6 + 1) * workers);
  CHECK(total.read_only_keys == 6 * workers);
  CHECK_THAT(statistics.to_json(),
             Contains("\"server\": {\"ranks\": ") && Contains("\"intents\": {\"total\""));
  CHECK_THAT(statistics.to_text(), Contains("clocks_per_round") && Contains("counts"));
  manager.close();
}

TEST_CASE("Ranks that call close and ranks whose destructor closes end a manager together") {
  for (const bool first_calls : {true, false}) {
    ParameterManager manager(MPI_COMM_WORLD);
    const auto table = manager.create_table<float>({.keys = kKeys});
    manager.run_workers(1, [&](IntentWorker& worker) {
      worker.intent(table, Key(1), Clock(0), Clock(1));
      worker.advance_clock();
    });
    if ((manager.rank() == Rank(0)) == first_calls) manager.close();
  }
}

TEST_CASE("Clocks go on from phase to phase, by the number of the worker") {
  ParameterManager manager(MPI_COMM_WORLD);
  const auto table = manager.create_table<float>({.keys = kKeys});
  const auto advance = [&](std::int32_t workers, std::vector<std::int64_t> before) {
    manager.run_workers(workers, [&](IntentWorker& worker) {
      expect(worker.current_clock() == Clock(before[worker.local_index()]), "the clock of the last phase");
      worker.intent(table, Key(1), worker.current_clock(), Clock(1000));
      worker.advance_clock();
    });
  };
  advance(1, {0});
  advance(3, {1, 0, 0});
  advance(2, {2, 1});
  advance(3, {3, 2, 1});
  manager.close();
}

TEST_CASE("A loader's thread signals intents for its worker") {
  ParameterManager manager(MPI_COMM_WORLD);
  const auto table = manager.create_table<float>({.keys = kKeys, .length = 4});
  manager.run_workers(2, [&](IntentWorker& worker) {
    constexpr std::int64_t kBatches = 200;
    std::thread loader([&table, loader = worker.loader()] {
      for (std::int64_t batch = 0; batch < kBatches; ++batch) {
        const auto keys = key_range(static_cast<std::uint64_t>(batch) % 50, 50);
        loader.intent(table, keys, Clock(batch), Clock(batch + 1));
      }
    });
    std::vector<float> value(4);
    for (std::int64_t batch = 0; batch < kBatches; ++batch) {
      worker.pull(table, Key(static_cast<std::uint64_t>(batch) % 50), value).wait();
      worker.advance_clock();
    }
    loader.join();
  });
  CHECK(manager.statistics().intents.total().intents == 400 * static_cast<std::uint64_t>(manager.ranks()));
  manager.close();
}

TEST_CASE("Tables of a manager are eventual unless their options say otherwise") {
  ParameterManager manager(MPI_COMM_WORLD);
  const auto sequential =
      manager.create_table<float>({.keys = kKeys, .consistency = lapse::Consistency::sequential});
  const auto by_server = manager.server().create_table<float>({.keys = kKeys});
  const auto assigned =
      manager.create_table<float>({.keys = kKeys, .update_rule = lapse::UpdateRule::assign()});
  manager.run_workers(1, [&](IntentWorker& worker) {
    for (const auto& table : {sequential, by_server, assigned}) {
      worker.intent(table, key_range(0, kKeys), Clock(0), Clock(10));
      worker.push(table, Key(5), std::vector<float>{1});
    }
    worker.advance_clock();
  });
  // Workers in a phase of the server have no intents.
  manager.server().run_workers(1, [&](lapse::Worker& worker) {
    std::vector<float> value(1);
    worker.pull(by_server, Key(5), value).wait();
    expect(value[0] == static_cast<float>(worker.ranks()), "the sum of all pushes");
  });
  manager.close();
}

TEST_CASE("Every technique runs the same program") {
  for (const Technique technique :
       {Technique::adaptive, Technique::immediate, Technique::relocation_only, Technique::replication_only,
        Technique::nups, Technique::full_replication, Technique::static_partitioning, Technique::localize}) {
    INFO(to_string(technique));
    Options options = options_of(technique);
    options.nups_factor = 5;
    ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<std::int64_t>({.keys = kKeys});
    const auto sparse = manager.create_table<std::int64_t>({.sparse = true});
    // One table gets its frequencies from the application; for the other table, intents are counted.
    std::vector<std::uint64_t> counts(kKeys, 1);
    counts[3] = 1000;
    manager.set_frequencies(table, counts);
    for (int phase = 0; phase < 2; ++phase) {
      manager.run_workers(1, [&](IntentWorker& worker) {
        const std::int64_t begin = worker.current_clock().value();
        const std::vector<std::int64_t> one{1};
        for (std::int64_t clock = begin; clock < begin + 20; ++clock) {
          const auto number = static_cast<std::uint64_t>(clock);
          for (const Key key : {Key(3), Key(number % kKeys)}) {
            worker.intent(table, key, Clock(clock + 5), Clock(clock + 6));
            worker.intent(sparse, Key(key.value() * 1'000'003), Clock(clock + 5), Clock(clock + 6));
            worker.push(table, key, one);
            worker.push(sparse, Key(key.value() * 1'000'003), one);
          }
          worker.advance_clock();
        }
      });
    }
    std::int64_t sum = 0;
    std::int64_t sparse_sum = 0;
    manager.run_workers(1, [&](IntentWorker& worker) {
      std::vector<std::int64_t> value(1);
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        worker.pull(table, Key(key), value).wait();
        sum += value[0];
        worker.pull(sparse, Key(key * 1'000'003), value).wait();
        sparse_sum += value[0];
      }
    });
    CHECK(sum == 80 * std::int64_t{manager.ranks()});
    CHECK(sparse_sum == 80 * std::int64_t{manager.ranks()});
    manager.close();
  }
}

TEST_CASE("Every worker that wants keys comes to have them in memory, and all pushes count") {
  for (const Technique technique : {Technique::adaptive, Technique::immediate, Technique::replication_only,
                                    Technique::nups, Technique::full_replication}) {
    INFO(to_string(technique));
    Options options = options_of(technique);
    options.nups_factor = 5;
    ParameterManager manager(MPI_COMM_WORLD, options);
    const auto table = manager.create_table<std::int64_t>({.keys = kKeys});
    std::vector<std::uint64_t> counts(kKeys, 0);
    counts[7] = 1000;
    manager.set_frequencies(table, counts);
    const std::vector<Key> keys = technique == Technique::nups ? key_range(7, 8) : key_range(0, kKeys);
    manager.run_workers(2, [&](IntentWorker& worker) {
      worker.intent(table, keys, Clock(0), Clock(1'000'000'000));
      std::vector<std::int64_t> value(1);
      for (const Key key : keys) {
        while (!worker.pull_if_local(table, key, value)) worker.advance_clock();
        worker.push(table, key, std::vector<std::int64_t>{1});
      }
      worker.sync_barrier();
      for (const Key key : keys) {
        worker.pull(table, key, value).wait();
        expect(value[0] == static_cast<std::int64_t>(worker.count()), "the pushes of all workers");
      }
    });
    // Intents have ended: each key has one owner, and no replicas except those that the technique keeps.
    const auto total = manager.statistics().server.table_total(table.id());
    CHECK(total.keys_here == kKeys);
    if (!traits(technique).replicates_always) CHECK(total.copies_here == 0);
    manager.close();
  }
}

TEST_CASE("Two managers and a server live side by side") {
  ParameterManager first(MPI_COMM_WORLD, options_of(Technique::nups));
  ParameterManager second(MPI_COMM_WORLD, options_of(Technique::full_replication));
  lapse::ParameterServer server(MPI_COMM_WORLD);
  const auto a = first.create_table<float>({.keys = kKeys});
  const auto b = second.create_table<float>({.keys = kKeys});
  for (int round = 0; round < 3; ++round) {
    first.run_workers(1, [&](IntentWorker& worker) { worker.intent(a, Key(1), Clock(0), Clock(100)); });
    second.run_workers(1, [&](IntentWorker& worker) { worker.intent(b, Key(1), Clock(0), Clock(100)); });
  }
  first.close();
  server.close();
  // The destructor closes the last manager.
}
