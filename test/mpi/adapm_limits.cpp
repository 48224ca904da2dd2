// Limits of pushes to replicas: pushes are scaled down or refused before the replica changes.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "lapse/core/not_finite_update.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/store/update_rules/row_norm.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_rule_reference.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Key;
using lapse::NotFinite;
using lapse::NotFiniteUpdate;
using lapse::RowNorm;
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
constexpr std::size_t kLength = 5;
constexpr double kMaxNorm = 2;

// Workers push one after the other, so that each push is merged alone. Then each domain reads the values of a
// table without replicas.
void check_copies(ParameterManager& manager, const UpdateRule& rule, bool sparse) {
  TableOptions options = copied_table(sparse, kKeys, manager.ranks());
  options.length = kLength;
  options.update_rule = rule;
  options.not_finite = NotFinite::refuse;
  options.max_push_norm = kMaxNorm;
  const auto table = manager.create_table<float>(options);
  constexpr std::size_t kTurns = 8;
  manager.run_workers(1, [&](IntentWorker& worker) {
    const auto keys = copied_keys(sparse, kKeys, worker.ranks());
    RuleReference<float> reference(rule, kLength, options.initialiser, options.seed);
    make_local(worker, table, keys);
    std::vector<float> value(kLength);
    for (std::size_t turn = 0; turn < kTurns; ++turn) {
      std::vector<float> rows;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        // Updates above and below the norm.
        std::vector<float> row(kLength, (turn + i) % 3 == 0 ? 0.25F : 3.0F + static_cast<float>(i));
        row[turn % kLength] = -1;
        rows.insert(rows.end(), row.begin(), row.end());
        if (const RowNorm<float> norm(row); norm.value() > kMaxNorm) norm.scale_to(kMaxNorm, row, row.data());
        reference.push(keys[i], row);
      }
      if (turn % worker.count() == worker.index()) {
        std::vector<float> bad = rows;
        bad.back() = std::numeric_limits<float>::infinity();
        try {
          worker.push(table, keys, bad);
          expect(false, "a push to copies that is refused");
        } catch (const NotFiniteUpdate& error) {
          expect(error.key() == keys.back() && error.element() == kLength - 1, error.what());
        }
        worker.push(table, keys, rows);
      }
      worker.sync_barrier();
      for (const Key key : keys) {
        expect(worker.pull_if_local(table, key, value), "a local key");
        const std::span<const float> expected = reference.value(key);
        const bool close = std::ranges::equal(
            value, expected, [](float a, float b) { return std::abs(a - b) <= 1e-4F * (1 + std::abs(b)); });
        expect(close, "a value with the rule " + rule.name());
      }
      worker.barrier();
    }
  });
  const lapse::TableCounters total = manager.server().statistics().table_total(table.id());
  CHECK(total.not_finite_rows == kTurns);
  CHECK(total.clipped_rows == kTurns * kKeys / 3 * 2);
  const bool several = sparse || lapse::test::domains_of_world().domains() > 1;
  CHECK((total.copy_pushes > 0) == several);
}

}  // namespace

TEST_CASE(
    "Pushes to copies are looked at once, by the rank that pushes, for additive and for gradient rules") {
  for (const bool sparse : {false, true}) {
    ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
    for (const UpdateRule& rule :
         {UpdateRule::add(), UpdateRule::sgd({.learning_rate = 0.1}),
          UpdateRule::adagrad({.learning_rate = 0.1}), UpdateRule::adam({.learning_rate = 0.01}),
          UpdateRule::ftrl({.l1 = 0.05, .l2 = 0.1})})
      check_copies(manager, rule, sparse);
    manager.close();
  }
}
