// User functions that run at a key's owner.
#include <mpi.h>

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/ps/function.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::key_range;

namespace {

constexpr std::uint64_t kKeys = 40;
constexpr std::size_t kLength = 3;

struct Move {
  std::int32_t from;
  std::int32_t to;
  float amount;
};
struct Report {
  double left;
  std::uint64_t key;
  char text[3];
};

TableOptions options_of(bool sparse) {
  TableOptions options{.length = kLength, .initialiser = Initialiser::constant(10)};
  options.sparse = sparse;
  if (!sparse) options.keys = kKeys;
  return options;
}

}  // namespace

TEST_CASE("Fetch-and-add gives every worker tickets of its own, while the key moves") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    TableOptions options = options_of(sparse);
    options.initialiser = Initialiser::zero();
    const auto table = server.create_table<std::int64_t>(options);
    const auto fetch_and_add = server.register_function<std::int64_t, std::int64_t, std::int64_t>(
        "fetch and add", [](Key, std::span<std::int64_t> value, std::int64_t by) {
          const std::int64_t before = value[0];
          value[0] += by;
          return before;
        });
    CHECK(fetch_and_add.name() == "fetch and add");
    constexpr std::size_t kEach = 200;
    server.run_workers(2, [&](Worker& worker) {
      const std::vector<Key> one_key{Key(5)};
      std::vector<std::int64_t> tickets(kEach);
      std::vector<Operation> calls;
      const std::int64_t one = 1;
      for (std::size_t i = 0; i < kEach; ++i) {
        calls.push_back(
            worker.call(table, fetch_and_add, one_key, std::span(&one, 1), std::span(&tickets[i], 1)));
        if (i % 10 == worker.index()) worker.localize(table, one_key);
        if (i % 7 == 0) calls.back().wait();
      }
      worker.wait_all();
      expect(std::ranges::is_sorted(tickets), "a worker's calls take effect in their order");
      std::vector<std::int64_t> taken(kEach * worker.count());
      for (const std::int64_t ticket : tickets) ++taken[static_cast<std::size_t>(ticket)];
      worker.all_reduce(std::span<std::int64_t>(taken));
      expect(taken == std::vector<std::int64_t>(taken.size(), 1), "every ticket once");
    });
  }
}

TEST_CASE("Arguments and results of any trivially copyable type, one for each key of a call") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<float>(options_of(sparse));
    const auto transfer = server.register_function<float, Move, Report>(
        "move", [](Key key, std::span<float> value, const Move& move) {
          value[static_cast<std::size_t>(move.from)] -= move.amount;
          value[static_cast<std::size_t>(move.to)] += move.amount;
          return Report{value[static_cast<std::size_t>(move.from)], key.value(), {'a', 'b', 'c'}};
        });
    server.run_workers(2, [&](Worker& worker) {
      // One worker for each key.
      std::vector<Key> keys;
      for (std::uint64_t key = worker.index(); key < kKeys; key += worker.count()) keys.emplace_back(key);
      for (int round = 1; round <= 5; ++round) {
        std::vector<Move> moves;
        for (const Key key : keys) moves.push_back({0, 2, static_cast<float>(key.value())});
        std::vector<Report> reports(keys.size());
        worker.localize(table, std::span(keys).first(keys.size() / 2));
        worker.call(table, transfer, keys, moves, reports).wait();
        for (std::size_t i = 0; i < keys.size(); ++i) {
          const auto amount = static_cast<double>(keys[i].value());
          expect(reports[i].key == keys[i].value() && reports[i].left == 10 - round * amount, "result");
          expect(std::memcmp(reports[i].text, "abc", 3) == 0, "text in the result");
        }
      }
      std::vector<float> values(keys.size() * kLength);
      worker.pull(table, keys, values).wait();
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const auto amount = static_cast<float>(5 * keys[i].value());
        expect(values[3 * i] == 10 - amount && values[3 * i + 1] == 10 && values[3 * i + 2] == 10 + amount,
               "what the function wrote");
      }
    });
  }
}

TEST_CASE("Functions without argument, without result, without both") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int32_t>(options_of(false));
  const auto twice = server.register_function<std::int32_t>(
      "twice", [](Key, std::span<std::int32_t> value) { value[1] *= 2; });
  const auto raise = server.register_function<std::int32_t, std::int64_t>(
      "raise",
      [](Key, std::span<std::int32_t> value, std::int64_t by) { value[0] += static_cast<std::int32_t>(by); });
  const auto first = server.register_function<std::int32_t, Nothing, std::int32_t>(
      "first", [](Key, std::span<std::int32_t> value) { return value[0]; });
  server.run_workers(1, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    if (worker.index() == 0) worker.call(table, twice, keys).wait();
    worker.call(table, raise, keys, std::vector<std::int64_t>(kKeys, 4));
    worker.barrier();
    std::vector<std::int32_t> results(kKeys);
    worker.call(table, first, keys, {}, results).wait();
    const auto expected = 10 + 4 * static_cast<std::int32_t>(worker.count());
    expect(results == std::vector<std::int32_t>(kKeys, expected), "results");
    std::vector<std::int32_t> value(kLength);
    worker.pull(table, Key(7), value).wait();
    expect(value == std::vector<std::int32_t>{expected, 20, 10}, "values");
  });
}

TEST_CASE("A call on a key that is given twice runs twice; its results are dropped with the handle") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<std::int64_t>(options_of(true));
  const auto next = server.register_function<std::int64_t, Nothing, std::int64_t>(
      "next", [](Key, std::span<std::int64_t> value) { return value[0]++; });
  server.run_workers(1, [&](Worker& worker) {
    const std::vector<Key> keys(3, Key(mix_bits(worker.index())));
    std::vector<std::int64_t> results(3);
    worker.call(table, next, keys, {}, results).wait();
    expect(results == std::vector<std::int64_t>{10, 11, 12}, "in the order of the call");
    std::vector<std::int64_t> dropped(3, -1);
    worker.call(table, next, keys, {}, dropped);
    const std::vector<std::int64_t> at_once = dropped;
    worker.wait_all();
    expect(dropped == at_once, "nothing is written once the handle is gone");
    worker.call(table, next, keys, {}, results).wait();
    expect(results == std::vector<std::int64_t>{16, 17, 18}, "the dropped call has run");
  });
}

TEST_CASE("A function sees the length of its key") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto table = server.create_table<double>({.keys = kKeys,
                                                  .lengths = [](Key key) { return 1 + key.value() * 20; },
                                                  .initialiser = Initialiser::constant(1)});
  const auto sum = server.register_function<double, double, double>(
      "scaled sum", [](Key, std::span<double> value, double by) {
        double result = 0;
        for (const double element : value) result += by * element;
        return result;
      });
  server.run_workers(2, [&](Worker& worker) {
    const auto keys = key_range(0, kKeys);
    for (int round = 0; round < 10; ++round) {
      worker.localize(table, Key((worker.index() + 3 * static_cast<std::size_t>(round)) % kKeys));
      std::vector<double> results(kKeys);
      worker.call(table, sum, keys, std::vector<double>(kKeys, 2), results).wait();
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        expect(results[key] == 2 * static_cast<double>(1 + key * 20), "sum over the value");
      }
    }
  });
}
