// Access to single elements of values.
#include <mpi.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "lapse/core/index_out_of_range.hpp"
#include "lapse/core/not_finite_update.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/elements.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/server_rule_reference.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::RuleReference;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 20;
constexpr std::size_t kLength = 37;

struct ElementTable {
  bool sparse = false;
  bool own_lengths = false;

  TableOptions options() const {
    TableOptions options{.length = kLength};
    options.sparse = sparse;
    if (!sparse) options.keys = kKeys;
    if (own_lengths) options.lengths = [](Key key) { return 1 + key.value() % kLength; };
    return options;
  }
  Key key(std::uint64_t number) const { return sparse ? Key(mix_bits(number + 1)) : Key(number); }
};

const std::vector<ElementTable> kShapes{{false, false}, {true, false}, {false, true}, {true, true}};

// Random pairs, some of them in runs.
struct Pairs {
  Pairs(const ElementTable& shape, const auto& table, std::size_t count, std::mt19937_64& random) {
    while (keys.size() < count) {
      const Key key = shape.key(random() % kKeys);
      for (std::uint64_t i = random() % 4; i < 4 && keys.size() < count; ++i) {
        keys.push_back(key);
        indices.push_back(static_cast<std::uint32_t>(random() % table.length(key)));
      }
    }
  }
  std::vector<Key> keys;
  std::vector<std::uint32_t> indices;
};

template <Element T>
void check_sums(ParameterServer& server, const ElementTable& shape) {
  const auto table = server.create_table<T>(shape.options());
  server.run_workers(2, [&](Worker& worker) {
    std::mt19937_64 random(17 + worker.index());
    std::vector<std::int64_t> expected(kKeys * kLength);
    std::vector<Key> all;
    for (std::uint64_t number = 0; number < kKeys; ++number) all.push_back(shape.key(number));
    for (int step = 0; step < 60; ++step) {
      const Pairs pairs(shape, table, 1 + random() % 50, random);
      std::vector<T> updates(pairs.keys.size());
      for (std::size_t i = 0; i < updates.size(); ++i) {
        updates[i] = static_cast<T>(random() % 16);
        const auto at = std::ranges::find(all, pairs.keys[i]) - all.begin();
        expected[static_cast<std::size_t>(at) * kLength + pairs.indices[i]] +=
            static_cast<std::int64_t>(updates[i]);
      }
      worker.push_elements(table, pairs.keys, pairs.indices, updates);
      // The call has consumed them.
      std::ranges::fill(updates, T{99});
      if (step % 7 == 0) worker.localize(table, shape.key(random() % kKeys));
      std::vector<T> values(pairs.keys.size(), T{-1});
      worker.pull_elements(table, pairs.keys, pairs.indices, values).wait();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto at = std::ranges::find(all, pairs.keys[i]) - all.begin();
        expect(static_cast<std::int64_t>(values[i]) >=
                   expected[static_cast<std::size_t>(at) * kLength + pairs.indices[i]],
               "own pushes in own pulls");
      }
    }
    worker.barrier();
    worker.all_reduce(std::span<std::int64_t>(expected));
    for (std::uint64_t number = 0; number < kKeys; ++number) {
      const std::size_t length = table.length(all[number]);
      std::vector<T> value(length);
      worker.pull(table, all[number], value).wait();
      std::vector<std::uint32_t> indices(length);
      for (std::uint32_t i = 0; i < length; ++i) indices[i] = static_cast<std::uint32_t>(length) - 1 - i;
      std::vector<T> elements(length);
      worker.pull_elements(table, all[number], indices, elements).wait();
      for (std::size_t i = 0; i < length; ++i) {
        expect(static_cast<std::int64_t>(value[i]) == expected[number * kLength + i],
               "the sum of all pushes");
        expect(elements[length - 1 - i] == value[i], "elements of the value");
      }
    }
  });
}

}  // namespace

TEST_CASE("Elements pushed by all workers add up, in tables of every shape and type") {
  ParameterServer server(MPI_COMM_WORLD);
  for (const ElementTable& shape : kShapes) check_sums<float>(server, shape);
  check_sums<std::int32_t>(server, kShapes[0]);
  check_sums<double>(server, kShapes[2]);
  check_sums<std::int64_t>(server, kShapes[1]);
}

TEST_CASE("Asynchronous operations on elements keep the worker's order with those on values") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  server.run_workers(1, [&](Worker& worker) {
    if (worker.index() == 0) {
      const auto keys = key_range(0, kKeys);
      const std::vector<std::uint32_t> indices{3, 36, 3};
      const std::vector<std::int64_t> ones(indices.size(), 1);
      const std::vector<std::int64_t> tens(kKeys * kLength, 10);
      std::vector<std::vector<std::int64_t>> pulled;
      std::vector<Operation> pulls;
      for (int step = 0; step < 10; ++step) {
        worker.push(table, keys, tens);
        for (const Key key : keys) worker.push_elements(table, key, indices, ones);
        if (step % 3 == 1) worker.localize(table, std::span(keys).subspan(static_cast<std::size_t>(step), 4));
        for (const Key key : keys) {
          pulled.emplace_back(indices.size());
          pulls.push_back(worker.pull_elements(table, key, indices, pulled.back()));
        }
        if (step == 5) worker.set(table, keys, std::vector<std::int64_t>(kKeys * kLength, 1000));
      }
      for (Operation& pull : pulls) pull.wait();
      for (std::size_t i = 0; i < pulled.size(); ++i) {
        const auto step = static_cast<std::int64_t>(i / kKeys) + 1;
        const std::int64_t base = step > 6 ? 1000 : 0;
        const std::int64_t rounds = step > 6 ? step - 6 : step;
        const std::int64_t twice = base + 12 * rounds;
        const std::int64_t once = base + 11 * rounds;
        expect(pulled[i] == std::vector<std::int64_t>{twice, once, twice}, "the order of calls");
      }
    }
    worker.barrier();
  });
}

TEST_CASE("Rules push to elements as to values whose other gradients are zero") {
  ParameterServer server(MPI_COMM_WORLD);
  for (const UpdateRule& rule : {UpdateRule::add(), UpdateRule::sgd({.learning_rate = 0.1}),
                                 UpdateRule::adagrad({.learning_rate = 0.1, .initial_accumulator = 0.01}),
                                 UpdateRule::ftrl({.alpha = 0.5, .l1 = 0.001, .l2 = 0.01})}) {
    const auto table = server.create_table<float>({.keys = kKeys, .length = kLength, .update_rule = rule});
    server.run_workers(1, [&](Worker& worker) {
      std::mt19937_64 random(4);
      RuleReference<float> reference(rule, kLength, Initialiser(), 0);
      for (std::size_t step = 0; step < 40; ++step) {
        const Key key(random() % kKeys);
        const float scale = random() % 3 == 0 ? 0.5F : 1.0F;
        std::vector<std::uint32_t> indices;
        std::vector<float> updates;
        std::vector<float> row(kLength, 0);
        for (std::uint32_t i = 0; i < kLength; i += 1 + static_cast<std::uint32_t>(random() % 9)) {
          indices.push_back(i);
          updates.push_back(static_cast<float>(random() % 2001) / 1000 - 1);
          row[i] = updates.back();
        }
        reference.push(key, row, scale);
        if (step % worker.count() == worker.index())
          worker.push_elements(table, key, indices, updates, scale);
        worker.barrier();
        std::vector<float> value(kLength);
        worker.pull(table, key, value).wait();
        expect(reference.equal_value(key, value), "a value with the rule " + rule.name());
        worker.barrier();
      }
    });
  }
}

TEST_CASE("Calls on more elements than one item or one packet carries") {
  constexpr std::size_t kLong = 50'000;
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = 8, .length = kLong});
  server.run_workers(1, [&](Worker& worker) {
    std::vector<std::uint32_t> indices(kLong);
    for (std::size_t i = 0; i < kLong; ++i) indices[i] = static_cast<std::uint32_t>(i * 7919 % kLong);
    std::vector<double> updates(kLong);
    for (std::size_t i = 0; i < kLong; ++i) updates[i] = static_cast<double>(indices[i]);
    for (std::uint64_t key = 0; key < 8; ++key) worker.push_elements(table, Key(key), indices, updates);
    worker.barrier();
    std::vector<double> values(kLong);
    for (std::uint64_t key = 0; key < 8; ++key) {
      worker.pull_elements(table, Key(key), indices, values).wait();
      for (std::size_t i = 0; i < kLong; ++i)
        expect(values[i] == updates[i] * static_cast<double>(worker.count()), "an element of a long value");
    }
    worker.barrier();
  });
}

TEST_CASE("Wrong calls on elements are refused before anything is applied") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "weights", .keys = kKeys, .length = kLength});
  const auto adam =
      server.create_table<float>({.name = "adam", .keys = kKeys, .update_rule = UpdateRule::adam()});
  const auto limited = server.create_table<float>({.name = "limited", .keys = kKeys, .max_push_norm = 1.0});
  const auto finite = server.create_table<float>(
      {.name = "finite", .keys = kKeys, .length = kLength, .not_finite = NotFinite::refuse});
  const auto integers = server.create_table<std::int64_t>({.name = "integers", .keys = kKeys});
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    std::vector<std::uint32_t> indices(kKeys, 3);
    std::vector<float> ones(kKeys, 1);
    std::vector<float> values(kKeys);
    indices[kKeys - 1] = kLength;
    const std::string text =
        thrown_text<IndexOutOfRange>([&] { worker.push_elements(table, keys, indices, ones); });
    for (const char* part : {"index 37", "key 19", "'weights'", "37 elements"})
      expect(contains(text, part), text + ", with " + part);
    thrown_text<IndexOutOfRange>([&] { worker.pull_elements(table, keys, indices, values).wait(); });
    thrown_text<IndexOutOfRange>([&] { worker.push_elements(table, Key(1), indices, ones); });
    indices[kKeys - 1] = 3;
    thrown_text<LengthMismatch>(
        [&] { worker.push_elements(table, keys, std::span(indices).first(2), ones); });
    thrown_text<LengthMismatch>(
        [&] { worker.push_elements(table, keys, indices, std::span(ones).first(2)); });
    thrown_text<LengthMismatch>(
        [&] { worker.pull_elements(table, Key(0), indices, std::span(values).first(2)).wait(); });
    thrown_text<KeyOutOfRange>([&] { worker.push_elements(table, Key(kKeys), indices, ones); });
    std::ranges::fill(indices, 0U);
    expect(
        contains(thrown_text<UsageError>([&] { worker.push_elements(adam, keys, indices, ones); }), "adam"),
        "the rule");
    worker.pull_elements(adam, keys, indices, values).wait();
    expect(contains(thrown_text<UsageError>([&] { worker.push_elements(limited, keys, indices, ones); }),
                    "max_push_norm"),
           "the limit");
    const std::vector<std::int64_t> numbers(kKeys, 1);
    thrown_text<UsageError>([&] { worker.push_elements(integers, keys, indices, numbers, 0.5F); });
    ones[7] = std::numeric_limits<float>::infinity();
    indices[7] = 5;
    try {
      worker.push_elements(finite, keys, indices, ones);
      expect(false, "NotFiniteUpdate");
    } catch (const NotFiniteUpdate& error) {
      expect(error.key() == Key(7) && error.element() == 5, error.what());
    }
    worker.barrier();
    for (const Table<float>& each : {table, finite}) {
      std::vector<float> all(kKeys * kLength, 1);
      worker.pull(each, keys, all).wait();
      expect(all == std::vector<float>(kKeys * kLength, 0), "no effect");
    }
    // Calls on nothing.
    expect(worker.pull_elements(table, std::vector<Key>(), {}, {}).done(), "pull of nothing");
    expect(worker.push_elements(table, Key(1), {}, {}).done(), "push of nothing");
  });
}

TEST_CASE("Elements of leased keys are answered when the lease ends") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>({.keys = kKeys, .length = kLength});
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    const std::vector<std::uint32_t> indices(kKeys, 30);
    const std::vector<std::int64_t> ones(kKeys, 1);
    for (int round = 0; round < 5; ++round) {
      if (static_cast<std::size_t>(round) % worker.count() == worker.index()) {
        Lease lease = worker.lease(table, keys);
        for (std::size_t i = 0; i < keys.size(); ++i) lease.values(table)[i][30] += 100;
      } else {
        worker.push_elements(table, keys, indices, ones);
      }
    }
    worker.barrier();
    std::vector<std::int64_t> values(kKeys);
    worker.pull_elements(table, keys, indices, values).wait();
    const auto workers = static_cast<std::int64_t>(worker.count());
    expect(values == std::vector<std::int64_t>(kKeys, 5 * 100 + 5 * (workers - 1)), "all changes");
  });
}

TEST_CASE("A call on elements counts one access for each run") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<float>({.name = "counted", .keys = kKeys, .length = kLength});
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys{Key(1), Key(1), Key(2), Key(3), Key(3), Key(1)};
    const std::vector<std::uint32_t> indices{0, 1, 2, 3, 4, 5};
    const std::vector<float> ones(keys.size(), 1);
    worker.push_elements(table, keys, indices, ones);
  });
  const Statistics statistics = server.statistics();
  const TableCounters counters = statistics.table_total(table.id());
  const auto ranks = static_cast<std::uint64_t>(server.ranks());
  CHECK(counters.operations == ranks);
  CHECK(counters.local_pushes + counters.remote_pushes + counters.queued_accesses == 4 * ranks);
}
