// Checks that tables make of pushes before their update rules are applied.
#include <mpi.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "lapse/core/not_finite_update.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/store/update_rules/row_norm.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/server_rule_reference.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::contains;
using lapse::test::expect;
using lapse::test::key_range;
using lapse::test::Momentum;
using lapse::test::RuleReference;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 24;
constexpr std::size_t kLength = 5;
constexpr double kMaxNorm = 2.5;

template <Element T>
constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
template <Element T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

TableOptions options_of(bool sparse, NotFinite not_finite, std::optional<double> max_norm = {}) {
  TableOptions options{
      .name = "limited", .length = kLength, .not_finite = not_finite, .max_push_norm = max_norm};
  options.sparse = sparse;
  if (!sparse) options.keys = kKeys;
  return options;
}

Key table_key(bool sparse, std::uint64_t number) {
  return sparse ? Key(mix_bits(number + 1)) : Key(number);
}

template <Element T>
std::vector<UpdateRule> all_rules() {
  return {UpdateRule::add(),
          UpdateRule::assign(),
          UpdateRule::sgd({.learning_rate = 0.1, .l2 = 0.01}),
          UpdateRule::adagrad({.learning_rate = 0.1, .initial_accumulator = 0.1}),
          UpdateRule::rowwise_adagrad({.learning_rate = 0.1}),
          UpdateRule::adam({.learning_rate = 0.01}),
          UpdateRule::ftrl({.l1 = 0.05, .l2 = 0.1}),
          UpdateRule::custom<T>(Momentum<T>{})};
}

// Updates with norms below and above the limit. Non-finite updates are not scaled.
template <Element T>
struct Updates {
  explicit Updates(std::size_t worker) : engine(7000 + worker) {}

  // A value keeps non-finite elements, so only some keys get them.
  std::vector<T> next(bool may_be_not_finite) {
    std::vector<T> row(kLength);
    const double size = std::pow(10, static_cast<double>(engine() % 5) - 2);
    for (T& element : row) element = static_cast<T>(size * (static_cast<double>(engine() % 2001) / 1000 - 1));
    if (may_be_not_finite && engine() % 4 == 0)
      row[engine() % kLength] = engine() % 2 == 0 ? kNan<T> : kInfinity<T>;
    return row;
  }
  // The update that the table must apply.
  std::vector<T> limited(const std::vector<T>& row) {
    std::vector<T> result = row;
    if (!std::ranges::all_of(row, [](T element) { return std::isfinite(element); })) {
      ++not_finite;
    } else if (const RowNorm<T> norm(row); norm.value() > kMaxNorm) {
      norm.scale_to(kMaxNorm, row, result.data());
      ++clipped;
    }
    return result;
  }

  std::mt19937_64 engine;
  std::int64_t not_finite = 0;
  std::int64_t clipped = 0;
};

template <Element T>
bool same_or_nan(std::span<const T> a, std::span<const T> b) {
  return std::ranges::equal(a, b, [](T x, T y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

// Pushes of one key and of several keys, alone and in leases, to keys in memory, of neighbours and of other
// domains, while they move. Each key is pushed by one worker.
template <Element T>
void check_clipping(ParameterServer& server, const UpdateRule& rule, bool sparse) {
  TableOptions options = options_of(sparse, NotFinite::count, kMaxNorm);
  options.name = {};
  options.initialiser = Initialiser::uniform(-1, 1);
  options.seed = 7;
  options.update_rule = rule;
  const auto table = server.create_table<T>(options);
  const bool scaled = rule.accepts_scale(element_type<T>());
  std::array<std::int64_t, 3> counts{};
  server.run_workers(2, [&](Worker& worker) {
    RuleReference<T> reference(rule, kLength, options.initialiser, options.seed);
    Updates<T> updates(worker.index());
    std::int64_t rows = 0;
    std::vector<Key> own;
    for (std::uint64_t number = worker.index(); number < kKeys; number += worker.count())
      own.push_back(table_key(sparse, number));
    for (int round = 0; round < 60 && !own.empty(); ++round) {
      worker.localize(table, table_key(sparse, updates.engine() % kKeys));
      const float scale = scaled && round % 3 == 0 ? 0.75F : 1.0F;
      std::vector<Key> keys;
      std::vector<T> values;
      // A key may repeat: each row is checked alone.
      for (std::size_t count = 1 + round % 2 * (updates.engine() % 5); count > 0; --count) {
        keys.push_back(own[updates.engine() % own.size()]);
        const std::vector<T> row = updates.next(keys.back() == own[0]);
        values.insert(values.end(), row.begin(), row.end());
        reference.push(keys.back(), updates.limited(row), scale);
      }
      const std::vector<T> given = values;
      if (keys.size() == 1) {
        worker.push(table, keys[0], values, scale);
      } else {
        worker.push(table, keys, values, scale);
      }
      expect(same_or_nan<T>(values, given), "updates that stay as they were");
      rows += static_cast<std::int64_t>(keys.size());
      if (round % 20 == 19) {
        // A set may write a value of any norm.
        const std::vector<T> large(kLength, T(100));
        worker.set(table, keys[0], large);
        reference.set(keys[0], large);
        ++rows;
      }
    }
    worker.barrier();
    {
      const Lease lease = worker.lease(table, own);
      const auto leased = lease.values(table);
      for (std::size_t i = 0; i < own.size(); ++i) {
        const std::vector<T> row = updates.next(i == 0);
        leased.apply(i, row, scaled ? 0.5F : 1.0F);
        reference.push(own[i], updates.limited(row), scaled ? 0.5F : 1.0F);
        ++rows;
        expect(same_or_nan<T>(leased[i], reference.value(own[i])), "value with the rule " + rule.name());
        expect(same_or_nan<T>(leased.state(i), reference.state(own[i])),
               "state with the rule " + rule.name());
      }
    }
    std::array<std::int64_t, 3> counted{rows, updates.not_finite, updates.clipped};
    worker.all_reduce(std::span<std::int64_t>(counted));
    if (worker.local_index() == 0) counts = counted;
  });
  const Statistics statistics = server.statistics();
  if (server.rank().value() != 0) return;
  const TableCounters total = statistics.table_total(table.id());
  CHECK(total.checked_rows == static_cast<std::uint64_t>(counts[0]));
  CHECK(total.not_finite_rows == static_cast<std::uint64_t>(counts[1]));
  CHECK(total.clipped_rows == static_cast<std::uint64_t>(counts[2]));
  CHECK(counts[1] > 0);
  CHECK(counts[2] > counts[1]);
}

// Makes calls on all keys, with one non-finite element.
template <Element T>
void check_refusals(Worker& worker, const Table<T>& table, bool sparse, Key bad, std::size_t element) {
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < kKeys; ++number) keys.push_back(table_key(sparse, number));
  std::vector<T> ones(kKeys * kLength, T(1));
  const auto position =
      static_cast<std::size_t>(std::ranges::find(keys, bad) - keys.begin()) * kLength + element;
  const auto expect_refused = [&](const std::string& call, auto&& f) {
    try {
      f();
    } catch (const NotFiniteUpdate& error) {
      expect(error.key() == bad && error.element() == element && error.where() == worker.rank(),
             "key, element and rank of " + std::string(error.what()));
      expect(contains(error.what(), call + " to key " + std::to_string(bad.value()) + " of table 'limited'"),
             "call and table in " + std::string(error.what()));
      return;
    }
    expect(false, call + " that is refused");
  };
  for (const T wrong : {kNan<T>, kInfinity<T>, -kInfinity<T>}) {
    ones[position] = wrong;
    const std::span<const T> row = std::span(ones).subspan(position - element, kLength);
    expect_refused("a push", [&] { worker.push(table, keys, ones); });
    expect_refused("a push", [&] { worker.push(table, bad, row); });
    expect_refused("a push", [&] { worker.push(table, keys, ones, 0.5F); });
    expect_refused("a set", [&] { worker.set(table, keys, ones); });
    expect_refused("a set", [&] { worker.set(table, bad, row); });
  }
}

template <Element T>
void check_refusing(ParameterServer& server, bool sparse, std::optional<double> max_norm) {
  const auto table = server.create_table<T>(options_of(sparse, NotFinite::refuse, max_norm));
  server.run_workers(2, [&](Worker& worker) {
    for (const std::uint64_t number : {std::uint64_t{0}, kKeys / 2, kKeys - 1}) {
      for (const std::size_t element : {std::size_t{0}, kLength - 1})
        check_refusals(worker, table, sparse, table_key(sparse, number), element);
    }
    worker.barrier();
    // No part of these calls was applied, and the worker continues.
    std::vector<T> value(kLength);
    for (std::uint64_t number = 0; number < kKeys; ++number) {
      worker.pull(table, table_key(sparse, number), value).wait();
      expect(std::ranges::all_of(value, [](T element) { return element == 0; }), "a value of 0");
    }
    worker.barrier();
    const Key own = table_key(sparse, worker.index() % kKeys);
    worker.push(table, own, std::vector<T>(kLength, T(1)));
    if (worker.index() == 0) {
      const Lease lease = worker.lease(table, std::span(&own, 1));
      const auto leased = lease.values(table);
      const T before = leased[0][1];
      std::vector<T> bad(kLength, T(1));
      bad[3] = kNan<T>;
      try {
        leased.apply(0, bad);
        expect(false, "an update in a lease that is refused");
      } catch (const NotFiniteUpdate& error) {
        expect(error.key() == own && error.element() == 3, error.what());
      }
      expect(leased[0][1] == before, "a leased value that stays");
      leased.apply(0, std::vector<T>(kLength, T(1)));
      expect(leased[0][1] == before + 1, "a leased value that was updated");
    }
    worker.barrier();
    // Functions that write in place are not checked.
    if (worker.update_if_local(table, own, [](std::span<T> in_place) { in_place[0] = kNan<T>; })) {
      worker.pull(table, own, value).wait();
      expect(std::isnan(value[0]), "a value that was written in place");
    }
    worker.barrier();
  });
  const Statistics statistics = server.statistics();
  if (server.rank().value() != 0) return;
  const TableCounters total = statistics.table_total(table.id());
  const auto workers = static_cast<std::uint64_t>(2 * server.ranks());
  // Six elements, three numbers that are not finite, five calls; and one update in a lease.
  CHECK(total.not_finite_rows == workers * 6 * 15 + 1);
  CHECK(total.clipped_rows == 0);
  CHECK(contains(statistics.to_text(), "not_finite_rows"));
}

}  // namespace

TEST_CASE(
    "Pushes above the norm of their table are scaled down before its rule sees them, wherever keys are") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    for (const UpdateRule& rule : all_rules<float>()) check_clipping<float>(server, rule, sparse);
    for (const UpdateRule& rule : all_rules<double>()) check_clipping<double>(server, rule, sparse);
  }
}

TEST_CASE("A table refuses pushes and sets that are not finite before anything of them is applied") {
  for (const bool sparse : {false, true}) {
    for (const auto max_norm : {std::optional<double>(), std::optional(100.0)}) {
      ParameterServer server(MPI_COMM_WORLD);
      check_refusing<float>(server, sparse, max_norm);
      ParameterServer another(MPI_COMM_WORLD);
      check_refusing<double>(another, sparse, max_norm);
    }
  }
}

TEST_CASE("A table without limits applies and counts as before") {
  ParameterServer server(MPI_COMM_WORLD);
  const auto floats = server.create_table<float>({.name = "floats", .keys = kKeys});
  const auto ints = server.create_table<std::int32_t>({.name = "ints", .keys = kKeys});
  server.run_workers(1, [&](Worker& worker) {
    for (const Key key : key_range(0, kKeys)) {
      worker.push(floats, key, std::vector<float>{kInfinity<float>});
      worker.push(ints, key, std::vector<std::int32_t>{1});
    }
    worker.barrier();
    float value = 0;
    worker.pull(floats, Key(3), std::span(&value, 1)).wait();
    expect(value == kInfinity<float>, "an infinite value");
  });
  const Statistics statistics = server.statistics();
  CHECK(statistics.table_total(floats.id()).checked_rows == 0);
  CHECK_FALSE(contains(statistics.to_text(), "not_finite_rows"));
  CHECK_FALSE(contains(statistics.to_text(), "clipped_rows"));
}

TEST_CASE("Limits of pushes look at each value of its own length") {
  ParameterServer server(MPI_COMM_WORLD);
  for (const bool sparse : {false, true}) {
    TableOptions options = options_of(sparse, NotFinite::count, 5);
    options.name = sparse ? "sparse" : "dense";
    options.length = 1;
    options.lengths = [](Key key) { return 1 + key.value() % 7; };
    const auto table = server.create_table<double>(options);
    server.run_workers(1, [&](Worker& worker) {
      if (worker.index() == 0) {
        std::vector<Key> keys;
        std::vector<double> updates;
        for (std::uint64_t number = 0; number < kKeys; ++number) {
          keys.push_back(table_key(sparse, number));
          // Each row has the norm 10, and every fourth has an infinite element.
          std::vector<double> row(table.length(keys.back()), 0);
          row.back() = number % 4 == 3 ? kInfinity<double> : -10;
          updates.insert(updates.end(), row.begin(), row.end());
        }
        worker.push(table, keys, updates);
        for (std::uint64_t number = 0; number < kKeys; ++number) {
          std::vector<double> value(table.length(keys[number]));
          worker.pull(table, keys[number], value).wait();
          expect(value.back() == (number % 4 == 3 ? kInfinity<double> : -5), "the last element of a value");
        }
      }
      worker.barrier();
    });
    const Statistics statistics = server.statistics();
    const TableCounters total = statistics.table_total(table.id());
    CHECK(total.checked_rows == kKeys);
    CHECK(total.not_finite_rows == kKeys / 4);
    CHECK(total.clipped_rows == kKeys - kKeys / 4);
  }
}
