#include <mpi.h>

#include <optional>

#include "lapse/core/error.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 60;
constexpr std::size_t kLength = 3;

}  // namespace

TEST_CASE("Operations are asynchronous, may be waited for in any order, and are finished after wait_all") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    const std::vector<std::int64_t> ones(kKeys * kLength, 1);
    std::vector<Operation> pushes;
    for (int i = 0; i < 20; ++i) pushes.push_back(worker.push(table, keys, ones));
    std::vector<std::vector<std::int64_t>> values(20, std::vector<std::int64_t>(kKeys * kLength));
    std::vector<Operation> pulls;
    for (auto& destination : values) pulls.push_back(worker.pull(table, keys, destination));
    pulls[19].wait();
    pulls[3].wait();
    expect(pulls[3].done(), "done after wait");
    pulls[3].wait();
    worker.wait_all();
    for (const Operation& operation : pulls) expect(operation.done(), "pull done after wait_all");
    for (const Operation& operation : pushes) expect(operation.done(), "push done after wait_all");
    for (const auto& got : values) {
      for (const std::int64_t element : got) expect(element >= 20, "own pushes before own pulls");
    }
    worker.barrier();
    worker.pull(table, keys, values[0]).wait();
    expect(values[0] ==
               std::vector<std::int64_t>(kKeys * kLength, 20 * static_cast<std::int64_t>(worker.count())),
           "all pushes after the barrier");
  });
}

TEST_CASE("A worker asks where a key is: in its reach, or not now") {
  const DomainMap domains = lapse::test::domains_of_world();
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  const auto home = [ranks](Key key) { return static_cast<std::int32_t>(key.value()) % ranks; };
  const auto dense = server.create_table<float>(
      {.name = "dense", .keys = kKeys, .home = HomeMapKind::custom, .home_function = home});
  const auto sparse = server.create_table<float>(
      {.name = "sparse", .sparse = true, .home = HomeMapKind::custom, .home_function = home});
  server.run_workers(1, [&](Worker& worker) {
    const auto check = [&](const Table<float>& table, Key key, bool local) {
      expect(worker.locality(table, key) == (local ? Locality::local : Locality::not_local), "the locality");
      std::vector<float> value(1);
      expect(worker.pull_if_local(table, key, value) == local, "pull_if_local agrees");
    };
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const Rank at_home(home(Key(key)));
      check(dense, Key(key), lapse::test::share_memory(domains, worker.rank(), at_home));
      // Also an uninitialized key. Each rank has its own.
      check(sparse, Key(key), worker.rank() == at_home);
    }
    worker.barrier();
    const auto keys = key_range(0, kKeys);
    if (worker.index() == 0) {
      worker.localize(dense, keys).wait();
      worker.localize(sparse, keys).wait();
    }
    worker.barrier();
    for (const Key key : keys) {
      check(dense, key, lapse::test::share_memory(domains, worker.rank(), Rank(0)));
      check(sparse, key, worker.index() == 0);
    }
    worker.barrier();
    if (worker.index() == 0) {
      const Lease lease = worker.lease(dense, keys);
      for (const Key key : keys) check(dense, key, true);
    }
    worker.barrier();
    bool refused = false;
    try {
      static_cast<void>(worker.locality(dense, Key(kKeys)));
    } catch (const KeyOutOfRange&) {
      refused = true;
    }
    expect(refused, "KeyOutOfRange");
  });
}

TEST_CASE("Keys may repeat in a call: pushes apply in order, pulls fill every row") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto added = server.create_table<std::int64_t>({.keys = kKeys});
  const auto assigned =
      server.create_table<std::int64_t>({.keys = kKeys, .update_rule = UpdateRule::assign()});
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() == 0) {
      std::vector<Key> keys;
      std::vector<std::int64_t> updates;
      for (std::uint64_t i = 0; i < 4 * kKeys; ++i) {
        keys.emplace_back(i % kKeys);
        updates.push_back(static_cast<std::int64_t>(i));
      }
      worker.push(added, keys, updates);
      worker.push(assigned, keys, updates);
      std::vector<std::int64_t> values(4 * kKeys);
      worker.pull(added, keys, values).wait();
      for (std::uint64_t i = 0; i < 4 * kKeys; ++i) {
        expect(values[i] == static_cast<std::int64_t>(4 * (i % kKeys) + 6 * kKeys), "sum of a repeated key");
      }
      worker.pull(assigned, keys, values).wait();
      for (std::uint64_t i = 0; i < 4 * kKeys; ++i) {
        expect(values[i] == static_cast<std::int64_t>(i % kKeys + 3 * kKeys),
               "last update of a repeated key");
      }
      worker.localize(added, keys).wait();
      expect(lapse::test::count_local(worker, added) == static_cast<std::int64_t>(kKeys), "all keys local");
    }
    worker.barrier();
  });
}

TEST_CASE("Empty calls do nothing and are finished at once") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.keys = kKeys, .length = kLength});
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> none;
    std::vector<float> empty;
    expect(worker.pull(table, none, empty).done(), "pull of nothing");
    expect(worker.push(table, none, empty).done(), "push of nothing");
    expect(worker.set(table, none, empty).done(), "set of nothing");
    expect(worker.localize(table, none).done(), "localize of nothing");
    worker.wait_all();
    Operation operation;
    expect(operation.done(), "an operation that was never begun");
    operation.wait();
  });
}

TEST_CASE("After localize a key is accessed in memory, by one call, in place") {
  ParameterServer server(MPI_COMM_WORLD);
  const DomainMap domains = lapse::test::domains_of_world();
  const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  server.run_workers(1, [&](Worker& worker) {
    for (std::size_t turn = 0; turn < worker.count(); ++turn) {
      if (worker.index() == turn) {
        worker.localize(table, key_range(0, kKeys)).wait();
        std::vector<std::int64_t> value(kLength);
        for (std::uint64_t key = 0; key < kKeys; ++key) {
          expect(worker.pull_if_local(table, Key(key), value), "pull_if_local of a localized key");
          expect(value == std::vector<std::int64_t>(kLength, static_cast<std::int64_t>(2 * turn)),
                 "its value");
          expect(worker.update_if_local(table, Key(key),
                                        [](std::span<std::int64_t> v) {
                                          for (auto& e : v) ++e;
                                        }),
                 "update_if_local of a localized key");
          worker.push(table, Key(key), std::vector<std::int64_t>(kLength, 1));
        }
      }
      worker.barrier();
      bool called = false;
      const bool here =
          worker.update_if_local(table, Key(0), [&](std::span<std::int64_t>) { called = true; });
      const Rank localizer(static_cast<std::int32_t>(turn));
      expect(here == lapse::test::share_memory(domains, worker.rank(), localizer) && called == here,
             "update_if_local where the key is, and nowhere else");
      worker.barrier();
    }
    lapse::test::expect_one_owner_each(worker, table);
  });
}

TEST_CASE("When all ranks localize the same keys again and again, every call ends and nothing is lost") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  constexpr int kRounds = 60;
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    const std::vector<std::int64_t> ones(kKeys, 1);
    for (int round = 0; round < kRounds; ++round) {
      Operation first = worker.localize(table, keys);
      worker.push(table, keys, ones);
      Operation second = worker.localize(table, keys);
      std::vector<std::int64_t> values(kKeys);
      worker.pull(table, keys, values).wait();
      for (const std::int64_t value : values) expect(value > round, "own pushes");
      first.wait();
      second.wait();
    }
    worker.barrier();
    std::vector<std::int64_t> values(kKeys);
    worker.pull(table, keys, values).wait();
    expect(values == std::vector<std::int64_t>(kKeys, kRounds * static_cast<std::int64_t>(worker.count())),
           "the sum of all pushes");
  });
  server.run_workers(1, [&](Worker& worker) { lapse::test::expect_one_owner_each(worker, table); });
}

TEST_CASE("An operation that is destroyed goes on; the destination of a pull is left alone from then on") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    const std::vector<std::int64_t> ones(kKeys * kLength, 1);
    for (int round = 0; round < 30; ++round) {
      worker.push(table, keys, ones);
      worker.localize(table, keys);
      std::vector<std::int64_t> destination(kKeys * kLength, -1);
      { const Operation operation = worker.pull(table, keys, destination); }
      const std::vector<std::int64_t> at_once = destination;
      worker.wait_all();
      expect(destination == at_once, "the destination of a destroyed pull stays as it was");
      // Assigning to an operation destroys the old one.
      Operation operation = worker.pull(table, keys, destination);
      operation = worker.push(table, keys, ones);
      operation.wait();
    }
    worker.barrier();
    std::vector<std::int64_t> values(kKeys * kLength);
    worker.pull(table, keys, values).wait();
    expect(
        values == std::vector<std::int64_t>(kKeys * kLength, 60 * static_cast<std::int64_t>(worker.count())),
        "destroyed pushes were applied");
  });
}

TEST_CASE("Operations that no worker waits for are finished when run_workers returns") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys});
  for (int phase = 1; phase <= 10; ++phase) {
    server.run_workers(1, [&](Worker& worker) {
      const auto keys = key_range(0, kKeys);
      worker.push(table, keys, std::vector<std::int64_t>(kKeys, 1));
      worker.localize(table, keys);
    });
    server.run_workers(1, [&](Worker& worker) {
      std::vector<std::int64_t> values(kKeys);
      worker.pull(table, key_range(0, kKeys), values).wait();
      expect(values == std::vector<std::int64_t>(kKeys, phase * worker.ranks()), "pushes of earlier phases");
    });
  }
}

TEST_CASE("pull_if_local never shows a value without this worker's own pushes") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = 4, .length = 4});
  server.run_workers(2, [&](Worker& worker) {
    std::vector<std::int64_t> update(4);
    std::vector<std::int64_t> value(4);
    for (std::int64_t round = 1; round <= 300; ++round) {
      const Key key(static_cast<std::uint64_t>(round) % 4);
      worker.localize(table, key);
      update[0] = 1;
      worker.push(table, key, update);
      if (worker.pull_if_local(table, key, value))
        expect(value[0] >= (round + 3) / 4, "own pushes are there");
    }
  });
}

TEST_CASE("A worker that has too much in flight waits for room") {
  for (const bool few_operations : {true, false}) {
    Options options = Options::from_environment();
    if (few_operations) options.max_outstanding_operations = 2;
    options.max_outstanding_bytes = few_operations ? options.max_outstanding_bytes : 4096;
    ParameterServer server(MPI_COMM_WORLD, options);
    const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = 20});
    server.run_workers(2, [&](Worker& worker) {
      const auto keys = key_range(0, kKeys);
      const std::vector<std::int64_t> ones(kKeys * 20, 1);
      for (int i = 0; i < 50; ++i) worker.push(table, keys, ones);
      worker.barrier();
      std::vector<std::int64_t> values(kKeys * 20);
      worker.pull(table, keys, values).wait();
      expect(values == std::vector<std::int64_t>(kKeys * 20, 50 * static_cast<std::int64_t>(worker.count())),
             "all pushes");
    });
  }
}

TEST_CASE("Handles that outlive their workers are finished and can be destroyed") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.keys = 100});
  std::vector<Operation> handles;
  for (int phase = 0; phase < 3; ++phase) {
    server.run_workers(1, [&](Worker& worker) {
      for (std::uint64_t key = 0; key < 100; ++key) {
        handles.push_back(worker.push(table, std::vector<Key>{Key(key)}, std::vector<float>{1}));
      }
    });
    for (Operation& handle : handles) {
      CHECK(handle.done());
      handle.wait();
    }
    if (phase == 1) handles.clear();
  }
  server.close();
  // The last handles are destroyed before the server.
  handles.clear();
}
