// Tables whose keys are not known in advance.
#include <mpi.h>

#include <limits>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;

namespace {

constexpr std::size_t kLength = 3;
constexpr std::size_t kKeys = 300;

// Spread over all 64 bits, including the smallest and the largest key.
std::vector<Key> wide_keys() {
  std::vector<Key> keys{Key(0),
                        Key(1),
                        Key(std::uint64_t{1} << 32),
                        Key(std::uint64_t{1} << 63),
                        Key(std::numeric_limits<std::uint64_t>::max()),
                        Key(std::numeric_limits<std::uint64_t>::max() - 1)};
  while (keys.size() < kKeys) keys.emplace_back(mix_bits(keys.size()));
  return keys;
}

TableOptions sparse_options() {
  TableOptions options{.sparse = true};
  options.length = kLength;
  return options;
}

TableCounters total(ParameterServer& server, TableId table) {
  return server.statistics().table_total(table);
}

// The contents as seen by all workers together: number of keys, sum of their bits, sum of the values.
template <class T>
std::vector<std::int64_t> visit(Worker& worker, const Table<T>& table) {
  std::vector<std::int64_t> sums(3);
  // Each rank's keys are counted once: by its first worker.
  if (worker.local_index() == 0) {
    worker.for_each_local(table, [&](Key key, std::span<const T> value) {
      expect(value.size() == table.length(key), "length of a visited value");
      ++sums[0];
      sums[1] += static_cast<std::int64_t>(key.value() >> 8);
      for (const T element : value) sums[2] += static_cast<std::int64_t>(element);
    });
  }
  worker.all_reduce(std::span<std::int64_t>(sums));
  return sums;
}

std::int64_t sum_of_bits(std::span<const Key> keys) {
  std::int64_t sum = 0;
  for (const Key key : keys) sum += static_cast<std::int64_t>(key.value() >> 8);
  return sum;
}

}  // namespace

TEST_CASE("Missing keys have their initial values, and reading makes nothing") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto by_key = Initialiser::function<float>([](Key key, std::span<float> value) {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = static_cast<float>(key.value() % 1000 + i);
  });
  const std::vector<Key> keys = wide_keys();
  for (const Initialiser& initialiser :
       {Initialiser::zero(), Initialiser::constant(2.5), Initialiser::uniform(-1, 1), by_key}) {
    TableOptions options = sparse_options();
    options.initialiser = initialiser;
    options.seed = 11;
    options.update_rule = UpdateRule::adam();
    const auto table = server.create_table<float>(options);
    CHECK(table.is_sparse());
    std::vector<float> expected(keys.size() * kLength);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      initialiser.fill(options.seed, keys[i], ElementType::float32, kLength,
                       reinterpret_cast<std::byte*>(expected.data() + i * kLength));
    }
    server.run_workers(2, [&](Worker& worker) {
      std::vector<float> values(expected.size(), -7);
      for (int round = 0; round < 2; ++round) {
        worker.pull(table, keys, values).wait();
        expect(values == expected, "initial values");
      }
      for (std::size_t i = 0; i < keys.size(); ++i) {
        std::vector<float> value(kLength);
        worker.pull(table, keys[i], value).wait();
        expect(std::equal(value.begin(), value.end(), &expected[i * kLength]), "initial value of one key");
        expect(!worker.update_if_local(table, keys[i], [](std::span<float>) {}), "no key to update");
      }
      expect(visit(worker, table)[0] == 0, "no key to visit");
    });
    const TableCounters counters = total(server, table.id());
    CHECK(counters.keys_here == 0);
    CHECK(counters.bytes_here == 0);
  }
}

TEST_CASE("Pushes make keys, wherever they move; each is visited once; statistics count them") {
  const std::vector<Key> keys = wide_keys();
  for (const bool caches : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    TableOptions options = sparse_options();
    options.location_caches = caches;
    options.update_rule = UpdateRule::add();
    options.initialiser = Initialiser::constant(5);
    const auto table = server.create_table<std::int64_t>(options);
    // Two phases, one after the other: in the second, the keys are where the first has left them.
    for (std::int64_t run = 1; run <= 2; ++run) {
      server.run_workers(2, [&](Worker& worker) {
        const std::vector<std::int64_t> ones(keys.size() * kLength, 1);
        for (int round = 0; round < 3; ++round) {
          worker.push(table, keys, ones);
          std::vector<Key> some;
          for (std::size_t i = worker.index(); i < keys.size(); i += worker.count() + 1) {
            some.push_back(keys[i]);
          }
          worker.localize(table, some);
        }
        worker.barrier();
        std::vector<std::int64_t> values(ones.size());
        worker.pull(table, keys, values).wait();
        const std::int64_t expected = 5 + 3 * run * static_cast<std::int64_t>(worker.count());
        expect(values == std::vector<std::int64_t>(ones.size(), expected), "the sum of all pushes");
        worker.barrier();
        expect(visit(worker, table) ==
                   std::vector<std::int64_t>{static_cast<std::int64_t>(keys.size()), sum_of_bits(keys),
                                             expected * static_cast<std::int64_t>(values.size())},
               "each key once");
      });
      const TableCounters counters = total(server, table.id());
      CHECK(counters.keys_here == keys.size());
      CHECK(counters.bytes_here == keys.size() * kLength * sizeof(std::int64_t));
      CHECK(counters.bytes_of_memory > counters.bytes_here);
      CHECK(counters.relocations_in == counters.relocations_out);
    }
  }
}

TEST_CASE("Bytes in the statistics include the state of the rule") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options = sparse_options();
  options.update_rule = UpdateRule::adam();
  const auto table = server.create_table<float>(options);
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(17 + worker.index()), Key(~std::uint64_t{0})};
    worker.set(table, keys, std::vector<float>(2 * kLength, 1));
  });
  const TableCounters counters = total(server, table.id());
  const auto expected = static_cast<std::uint64_t>(server.ranks()) + 1;
  CHECK(counters.keys_here == expected);
  CHECK(counters.bytes_here == expected * (kLength + 2 * kLength + 1) * sizeof(float));
}

TEST_CASE(
    "Missing keys can be localized; they are then where they were asked for, with their initial value") {
  ParameterServer server(MPI_COMM_WORLD);
  TableOptions options = sparse_options();
  options.initialiser = Initialiser::constant(9);
  const auto table = server.create_table<std::int32_t>(options);
  const std::vector<Key> keys = wide_keys();
  server.run_workers(2, [&](Worker& worker) {
    for (std::size_t turn = 0; turn < worker.count(); ++turn) {
      if (turn == worker.index()) {
        worker.localize(table, keys).wait();
        std::vector<std::int32_t> value(kLength);
        for (const Key key : keys) {
          expect(worker.pull_if_local(table, key, value), "localized");
          expect(value == std::vector<std::int32_t>(kLength, 9), "the initial value");
        }
      }
      worker.barrier();
    }
    // All workers request all keys, repeatedly.
    for (int round = 0; round < 10; ++round) {
      const Operation first = worker.localize(table, keys);
      worker.push(table, keys[static_cast<std::size_t>(round)], std::vector<std::int32_t>(kLength, 1));
    }
    worker.barrier();
    std::vector<std::int32_t> values(keys.size() * kLength);
    worker.pull(table, keys, values).wait();
    for (std::size_t i = 0; i < values.size(); ++i) {
      expect(values[i] == (i < 10 * kLength ? 9 + static_cast<std::int32_t>(worker.count()) : 9), "value");
    }
  });
}

TEST_CASE("A custom home map of a sparse table defines where keys are made") {
  ParameterServer server(MPI_COMM_WORLD);
  const std::int32_t ranks = server.ranks();
  TableOptions options = sparse_options();
  options.home = HomeMapKind::custom;
  options.home_function = [ranks](Key key) {
    return static_cast<std::int32_t>((key.value() >> 60) % static_cast<std::uint64_t>(ranks));
  };
  const auto table = server.create_table<double>(options);
  const std::vector<Key> keys = wide_keys();
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() == 0) worker.push(table, keys, std::vector<double>(keys.size() * kLength, 1)).wait();
    worker.barrier();
    std::vector<double> value(kLength);
    for (const Key key : keys) {
      expect(worker.pull_if_local(table, key, value) == (options.home_function(key) == worker.rank().value()),
             "key at its home");
    }
    worker.barrier();
    if (worker.index() + 1 == worker.count()) worker.localize(table, keys).wait();
    worker.barrier();
    const auto seen = visit(worker, table);
    expect(seen[0] == static_cast<std::int64_t>(keys.size()) && seen[1] == sum_of_bits(keys),
           "each key once");
  });
}

TEST_CASE("The function of for_each_local may call the server and make keys") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.sparse = true});
  server.run_workers(1, [&](Worker& worker) {
    const std::int64_t one = 1;
    for (std::uint64_t i = 0; i < 50; ++i) {
      worker.push(table, Key(i * worker.count() + worker.index()), std::span(&one, 1));
    }
    worker.barrier();
    worker.for_each_local(table, [&](Key key, std::span<const std::int64_t> value) {
      std::int64_t again = 0;
      worker.pull(table, key, std::span(&again, 1)).wait();
      expect(again >= value[0], "the value of a visited key");
      // Keys that arrive meanwhile may be visited, too: they add 0.
      if (key.value() < 1000) worker.push(table, Key(key.value() + 1000), std::span(&one, 1));
    });
    worker.barrier();
    const auto seen = visit(worker, table);
    const auto expected = 100 * static_cast<std::int64_t>(worker.count());
    expect(seen[0] == expected && seen[2] == expected, "as many new keys as old ones");
  });
}

TEST_CASE("A sparse table takes many keys from all workers at once") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.sparse = true});
  constexpr std::uint64_t kMany = 20'000;
  server.run_workers(2, [&](Worker& worker) {
    std::vector<Key> keys;
    for (std::uint64_t i = 0; i < kMany; ++i) {
      keys.emplace_back(mix_bits(i));
      if (keys.size() == 500) {
        worker.push(table, keys, std::vector<std::int64_t>(keys.size(), 2));
        if (i % 3 == worker.index() % 3) worker.localize(table, keys);
        keys.clear();
      }
    }
    worker.barrier();
    const auto seen = visit(worker, table);
    expect(seen[0] == kMany, "number of keys");
    expect(seen[2] == static_cast<std::int64_t>(2 * kMany * worker.count()), "sum of the pushes");
  });
}

TEST_CASE("Cached locations leave room for keys that arrive") {
  ParameterServer server(MPI_COMM_WORLD);
  if (server.ranks() < 3) return;  // Needs three ranks: a home, an owner and a requester.
  TableOptions options{.sparse = true, .max_keys = 200, .home = HomeMapKind::custom};
  options.home_function = [](Key key) { return key.value() < 1000 ? 1 : 0; };
  const auto table = server.create_table<float>(options);
  server.run_workers(1, [&](Worker& worker) {
    std::vector<Key> others;
    for (std::uint64_t key = 0; key < 190; ++key) others.emplace_back(key);
    std::vector<float> values(others.size(), 1);
    if (worker.rank() == Rank(2)) {
      worker.push(table, others, values).wait();
      worker.localize(table, others).wait();
    }
    worker.barrier();
    // Rank 0 learns that the keys are on rank 2, not at their home.
    if (worker.rank() == Rank(0)) {
      for (int i = 0; i < 3; ++i) worker.pull(table, others, values).wait();
      for (std::uint64_t key = 1000; key < 1100; ++key) worker.push(table, Key(key), std::vector<float>{2});
      worker.wait_all();
    }
  });
  server.close();
}
