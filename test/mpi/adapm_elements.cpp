// Pushes to elements of replicas: what reaches the main copy, and what replicas get back.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include "lapse/core/statistics.hpp"
#include "lapse/ps/elements.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_rule_reference.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Initialiser;
using lapse::Key;
using lapse::TableOptions;
using lapse::UpdateRule;
using lapse::test::copied_keys;
using lapse::test::copied_table;
using lapse::test::copies_by_intents;
using lapse::test::expect;
using lapse::test::make_local;
using lapse::test::RuleReference;

namespace {

constexpr std::uint64_t kKeys = 6;
constexpr std::size_t kLength = 40;

// Workers push one after the other, so that each push is merged alone.
void check_pushes(ParameterManager& manager, const UpdateRule& rule, bool sparse) {
  TableOptions options = copied_table(sparse, kKeys, manager.ranks());
  options.length = kLength;
  options.update_rule = rule;
  const auto table = manager.create_table<double>(options);
  manager.run_workers(1, [&](IntentWorker& worker) {
    const auto keys = copied_keys(sparse, kKeys, worker.ranks());
    RuleReference<double> reference(rule, kLength, options.initialiser, options.seed);
    make_local(worker, table, keys);
    std::mt19937_64 random(42);
    for (std::size_t turn = 0; turn < 16; ++turn) {
      std::vector<Key> pairs;
      std::vector<std::uint32_t> indices;
      std::vector<double> updates;
      for (const Key key : keys) {
        std::vector<double> row(kLength, 0);
        for (std::uint32_t i = static_cast<std::uint32_t>(random() % 7); i < kLength; i += 9) {
          pairs.push_back(key);
          indices.push_back(i);
          updates.push_back(static_cast<double>(random() % 2001) / 1000 - 1);
          row[i] = updates.back();
        }
        reference.push(key, row);
      }
      if (turn % worker.count() == worker.index()) {
        worker.push_elements(table, pairs, indices, updates);
        // A worker sees its own pushes at once.
        std::vector<double> own(pairs.size());
        worker.pull_elements(table, pairs, indices, own).wait();
        for (std::size_t i = 0; i < pairs.size(); ++i) {
          const double expected = reference.value(pairs[i])[indices[i]];
          expect(std::abs(own[i] - expected) <= 1e-10 * (1 + std::abs(expected)), "an own push to a replica");
        }
      }
      worker.sync_barrier();
      std::vector<double> value(kLength);
      for (const Key key : keys) {
        expect(worker.pull_if_local(table, key, value), "a local key");
        const bool close = std::ranges::equal(value, reference.value(key), [](double a, double b) {
          return std::abs(a - b) <= 1e-10 * (1 + std::abs(b));
        });
        expect(close, "a value with the rule " + rule.name());
      }
      worker.barrier();
    }
  });
}

}  // namespace

TEST_CASE("Pushes to elements of replicas reach the main copies, with every rule that has them") {
  ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
  for (const UpdateRule& rule : {UpdateRule::add(), UpdateRule::sgd({.learning_rate = 0.1}),
                                 UpdateRule::adagrad({.learning_rate = 0.1, .initial_accumulator = 0.01}),
                                 UpdateRule::ftrl({.alpha = 0.5, .l1 = 0.001, .l2 = 0.01})}) {
    for (const bool sparse : {false, true}) check_pushes(manager, rule, sparse);
  }
}

TEST_CASE("Elements that all workers push to replicas add up") {
  ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
  TableOptions options = copied_table(false, kKeys, manager.ranks());
  options.name = "counts";
  options.length = kLength;
  const auto table = manager.create_table<std::int64_t>(options);
  constexpr std::int64_t kPushes = 300;
  manager.run_workers(2, [&](IntentWorker& worker) {
    const auto keys = copied_keys(false, kKeys, worker.ranks());
    make_local(worker, table, keys);
    std::mt19937_64 random(worker.index());
    std::vector<std::int64_t> pushed(kKeys * kLength);
    for (std::int64_t push = 0; push < kPushes; ++push) {
      const std::uint64_t key = random() % kKeys;
      const std::vector<std::uint32_t> indices{static_cast<std::uint32_t>(random() % kLength),
                                               static_cast<std::uint32_t>(random() % kLength)};
      const std::vector<std::int64_t> ones(indices.size(), 1);
      worker.push_elements(table, keys[key], indices, ones);
      for (const std::uint32_t index : indices) ++pushed[key * kLength + index];
      if (push % 20 == 0) {
        std::vector<std::int64_t> own(1);
        worker.pull_elements(table, keys[key], std::span(indices).first(1), own).wait();
        expect(own[0] >= pushed[key * kLength + indices[0]], "own pushes");
        worker.advance_clock();
      }
    }
    worker.all_reduce(std::span<std::int64_t>(pushed));
    worker.sync_barrier();
    std::vector<std::int64_t> values(kKeys * kLength);
    worker.pull(table, keys, values).wait();
    expect(values == pushed, "the sum of all pushes in every domain");
    worker.barrier();
  });
  const lapse::Statistics statistics = manager.server().statistics();
  const bool several = lapse::test::domains_of_world().domains() > 1;
  CHECK((statistics.table_total(table.id()).copy_pushes > 0) == several);
}

TEST_CASE("Pushes to elements of replicas with a scale go to the main copy where gradients are merged") {
  ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
  TableOptions options = copied_table(false, kKeys, manager.ranks());
  options.length = kLength;
  options.update_rule = UpdateRule::ftrl({.alpha = 0.5});
  const auto table = manager.create_table<double>(options);
  manager.run_workers(1, [&](IntentWorker& worker) {
    const auto keys = copied_keys(false, kKeys, worker.ranks());
    RuleReference<double> reference(options.update_rule, kLength, Initialiser(), 0);
    make_local(worker, table, keys);
    const std::vector<std::uint32_t> indices{7};
    const std::vector<double> updates{0.75};
    std::vector<double> row(kLength, 0);
    row[7] = 0.75;
    for (std::size_t turn = 0; turn < 6; ++turn) {
      for (const Key key : keys) {
        reference.push(key, row, 0.5F);
        if (turn % worker.count() != worker.index()) continue;
        worker.push_elements(table, key, indices, updates, 0.5F);
        std::vector<double> own(1);
        worker.pull_elements(table, key, indices, own).wait();
        expect(own[0] == reference.value(key)[7], "an own push");
      }
      worker.sync_barrier();
    }
  });
}
