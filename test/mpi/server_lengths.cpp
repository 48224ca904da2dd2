// Tables with per-key lengths.
#include <mpi.h>

#include <random>

#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/ps/lease.hpp"
#include "test/mpi/server_expect.hpp"
#include "test/mpi/server_rule_reference.hpp"
#include "test/support/catch.hpp"
#include "test/support/thrown_text.hpp"

using namespace lapse;
using lapse::test::expect;
using lapse::test::RuleReference;
using lapse::test::thrown_text;

namespace {

constexpr std::uint64_t kKeys = 30;

// 1 to 5000, inclusive; most lengths are short.
std::size_t length_of(Key key) {
  const std::uint64_t bits = mix_bits(key.value() + 3);
  switch (bits % 8) {
    case 0:
      return 1;
    case 1:
      return 5000;
    case 2:
      return 1 + (bits >> 20) % 5000;
    default:
      return 1 + (bits >> 20) % 60;
  }
}

TableOptions options_of(bool sparse) {
  TableOptions options{.lengths = length_of, .initialiser = Initialiser::constant(3)};
  options.sparse = sparse;
  if (!sparse) options.keys = kKeys;
  return options;
}

std::vector<Key> keys_of(bool sparse) {
  std::vector<Key> keys;
  for (std::uint64_t number = 0; number < kKeys; ++number) {
    keys.emplace_back(sparse ? mix_bits(number + 1) : number);
  }
  return keys;
}

std::size_t elements_of(std::span<const Key> keys) {
  std::size_t elements = 0;
  for (const Key key : keys) elements += length_of(key);
  return elements;
}

}  // namespace

TEST_CASE("The keys of the tests have the shortest and the longest of their lengths") {
  for (const bool sparse : {false, true}) {
    std::size_t shortest = 5000;
    std::size_t longest = 1;
    for (const Key key : keys_of(sparse)) {
      shortest = std::min(shortest, length_of(key));
      longest = std::max(longest, length_of(key));
    }
    CHECK(shortest == 1);
    CHECK(longest == 5000);
  }
}

TEST_CASE("Rows of different lengths are pulled, pushed, set and moved, alone and together") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<std::int64_t>(options_of(sparse));
    const std::vector<Key> keys = keys_of(sparse);
    CHECK(table.length() == 0);
    for (const Key key : keys) CHECK(table.length(key) == length_of(key));
    server.run_workers(2, [&](Worker& worker) {
      std::mt19937_64 random(worker.index());
      const std::size_t elements = elements_of(keys);
      std::vector<std::int64_t> values(elements);
      worker.pull(table, keys, values).wait();
      expect(values == std::vector<std::int64_t>(elements, 3), "initial values");
      worker.barrier();
      // Every worker pushes each element's position in all rows, listing the rows in any order.
      for (int round = 0; round < 6; ++round) {
        std::vector<Key> shuffled = keys;
        std::ranges::shuffle(shuffled, random);
        std::vector<std::int64_t> updates;
        for (const Key key : shuffled) {
          for (std::size_t i = 0; i < length_of(key); ++i) updates.push_back(static_cast<std::int64_t>(i));
        }
        worker.push(table, shuffled, updates);
        worker.localize(table, std::span(shuffled).first(7));
        const Key one = shuffled.back();
        worker.push(table, one, std::vector<std::int64_t>(length_of(one), 0));
      }
      worker.barrier();
      const auto times = 6 * static_cast<std::int64_t>(worker.count());
      for (const Key key : keys) {
        std::vector<std::int64_t> value(length_of(key));
        worker.pull(table, key, value).wait();
        for (std::size_t i = 0; i < value.size(); ++i) {
          expect(value[i] == 3 + times * static_cast<std::int64_t>(i), "the sum of all pushes");
        }
      }
      worker.barrier();
      // From here on, each key has one worker.
      std::vector<Key> own;
      for (std::size_t i = worker.index(); i < keys.size(); i += worker.count()) own.push_back(keys[i]);
      std::vector<std::int64_t> replaced(elements_of(own), 40 + static_cast<std::int64_t>(worker.index()));
      worker.set(table, own, replaced);
      worker.localize(table, own).wait();
      for (const Key key : own) {
        worker.update_if_local(table, key, [&](std::span<std::int64_t> value) {
          expect(value.size() == length_of(key), "length in update_if_local");
          --value.back();
        });
        // Whether the key is still local or not: repeats the access by lease, so that both are counted.
        const Lease lease = worker.lease(table, std::span(&key, 1));
        const auto value = lease.values(table)[0];
        expect(value.size() == length_of(key), "length in a lease");
        value.back() = 7;
      }
      std::vector<std::int64_t> got(replaced.size());
      worker.pull(table, own, got).wait();
      std::size_t at = 0;
      for (const Key key : own) {
        at += length_of(key);
        replaced[at - 1] = 7;
      }
      expect(got == replaced, "values that were set, last elements changed");
    });
    const TableCounters total = server.statistics().table_total(table.id());
    CHECK(total.keys_here == keys.size());
    CHECK(total.bytes_here == elements_of(keys) * sizeof(std::int64_t));
  }
}

TEST_CASE("Rules with state work on values of different lengths while they move") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    for (const UpdateRule& rule : {UpdateRule::adam(), UpdateRule::rowwise_adagrad(), UpdateRule::ftrl()}) {
      TableOptions options = options_of(sparse);
      options.update_rule = rule;
      const auto table = server.create_table<float>(options);
      const std::vector<Key> keys = keys_of(sparse);
      for (const Key key : keys) CHECK(table.state_length(key) == rule.state_elements(length_of(key)));
      server.run_workers(2, [&](Worker& worker) {
        std::vector<Key> own;
        for (std::size_t i = worker.index(); i < keys.size(); i += worker.count()) own.push_back(keys[i]);
        for (int round = 0; round < 4; ++round) {
          std::vector<float> gradients(elements_of(own), 0.5F + static_cast<float>(round));
          worker.push(table, own, gradients);
          worker.localize(table, keys[(worker.index() + static_cast<std::size_t>(round)) % keys.size()]);
        }
        const Lease lease = worker.lease(table, own);
        const auto values = lease.values(table);
        for (std::size_t i = 0; i < own.size(); ++i) {
          const std::size_t length = length_of(own[i]);
          RuleReference<float> reference(rule, length, options.initialiser, options.seed);
          for (int round = 0; round < 4; ++round) {
            reference.push(own[i], std::vector<float>(length, 0.5F + static_cast<float>(round)));
          }
          expect(reference.equal_value(own[i], values[i]), "value of " + rule.name());
          expect(reference.equal_state(own[i], values.state(i)), "state of " + rule.name());
        }
      });
    }
  }
}

TEST_CASE("Rows of a wrong length are refused for the key that they are for") {
  for (const bool sparse : {false, true}) {
    ParameterServer server(MPI_COMM_WORLD);
    const auto table = server.create_table<double>(options_of(sparse));
    server.run_workers(1, [&](Worker& worker) {
      const std::vector<Key> keys = keys_of(sparse);
      for (const Key key : keys) {
        std::vector<double> wrong(length_of(key) + 1);
        thrown_text<LengthMismatch>([&] { worker.push(table, key, wrong); });
        thrown_text<LengthMismatch>([&] { worker.set(table, key, wrong); });
        thrown_text<LengthMismatch>([&] { worker.pull(table, key, wrong).wait(); });
        thrown_text<LengthMismatch>([&] { worker.pull_if_local(table, key, wrong); });
      }
      std::vector<double> rows(elements_of(keys) - 1);
      thrown_text<LengthMismatch>([&] { worker.push(table, keys, rows); });
      worker.barrier();
      rows.resize(rows.size() + 1);
      worker.pull(table, keys, rows).wait();
      expect(rows == std::vector<double>(rows.size(), 3), "nothing was applied");
    });
  }
}
