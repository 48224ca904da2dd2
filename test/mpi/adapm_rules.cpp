// Update rules and pushes to replicas: what reaches the main copy, and what replicas get back.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <span>

#include "lapse/ps/lease.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/mpi/adapm_copies.hpp"
#include "test/mpi/server_rule_reference.hpp"
#include "test/support/catch.hpp"

using namespace adapm;
using lapse::Element;
using lapse::Initialiser;
using lapse::Key;
using lapse::Lease;
using lapse::Merge;
using lapse::TableOptions;
using lapse::UpdateRule;
using lapse::test::copied_keys;
using lapse::test::copied_table;
using lapse::test::copies_by_intents;
using lapse::test::expect;
using lapse::test::make_local;
using lapse::test::Momentum;
using lapse::test::RuleReference;

namespace {

constexpr std::uint64_t kKeys = 6;
constexpr std::size_t kLength = 5;

// Momentum. n gradients that are merged count as their sum divided by the root of n.
template <Element T>
struct RootMomentum : Momentum<T> {
  std::string name() const { return "momentum of roots"; }
  Merge merge() const { return Merge::gradient; }
  void merge(std::span<T> sum, std::size_t count) const {
    for (T& element : sum) element /= std::sqrt(static_cast<T>(count));
  }
};

template <Element T>
struct Rule {
  UpdateRule rule;
  std::function<void(std::span<T>, std::size_t)> merge = [](std::span<T>, std::size_t) {};
};

template <Element T>
std::vector<Rule<T>> gradient_rules() {
  return {{UpdateRule::adam({.learning_rate = 0.01, .l2 = 0.01})},
          {UpdateRule::ftrl({.l1 = 0.05, .l2 = 0.1})},
          {UpdateRule::custom<T>(RootMomentum<T>{}),
           [](std::span<T> sum, std::size_t count) { RootMomentum<T>{}.merge(sum, count); }}};
}

template <Element T>
std::vector<Rule<T>> all_rules() {
  std::vector<Rule<T>> rules = gradient_rules<T>();
  for (const UpdateRule& rule :
       {UpdateRule::add(), UpdateRule::sgd({.learning_rate = 0.1, .l2 = 0.01}),
        UpdateRule::adagrad({.learning_rate = 0.1, .l2 = 0.001, .initial_accumulator = 0.1}),
        UpdateRule::rowwise_adagrad({.learning_rate = 0.1})})
    rules.push_back({rule});
  return rules;
}

TableOptions options_of(const UpdateRule& rule, bool sparse, std::int32_t ranks) {
  TableOptions options = copied_table(sparse, kKeys, ranks);
  options.length = kLength;
  options.initialiser = Initialiser::uniform(-1, 1);
  options.seed = 7;
  options.update_rule = rule;
  return options;
}

template <Element T>
std::vector<T> noise(std::mt19937_64& random) {
  std::vector<T> update(kLength);
  for (T& element : update) element = static_cast<T>(static_cast<double>(random() % 2001) / 500 - 2);
  return update;
}

// Merged gradients are exact. A difference of two values is rounded, and so is a sum of differences.
template <Element T>
bool equal_enough(const UpdateRule& rule, std::span<const T> value, std::span<const T> expected) {
  if (rule.merge() == Merge::gradient) return std::ranges::equal(value, expected);
  const T bound = 200 * std::numeric_limits<T>::epsilon();
  return std::ranges::equal(value, expected, [&](T a, T b) {
    return std::abs(a - b) <= bound * (1 + std::max(std::abs(a), std::abs(b)));
  });
}

// Workers push one after the other, so that each push is merged alone.
template <Element T>
void check_pushes(ParameterManager& manager, const UpdateRule& rule, bool sparse) {
  const TableOptions options = options_of(rule, sparse, manager.ranks());
  const auto table = manager.create_table<T>(options);
  const bool scaled = rule.accepts_scale(lapse::element_type<T>());
  manager.run_workers(1, [&](IntentWorker& worker) {
    const auto keys = copied_keys(sparse, kKeys, worker.ranks());
    RuleReference<T> reference(rule, kLength, options.initialiser, options.seed);
    make_local(worker, table, keys);
    std::mt19937_64 random(42);
    std::vector<T> value(kLength);
    for (std::size_t turn = 0; turn < 20; ++turn) {
      for (const Key key : keys) {
        const std::vector<T> update = noise<T>(random);
        const bool sets = random() % 8 == 0;
        const float scale = scaled && random() % 4 == 0 ? 0.75F : 1.0F;
        if (sets) {
          reference.set(key, update);
          if (turn % worker.count() == worker.index()) worker.set(table, key, update);
        } else {
          reference.push(key, update, scale);
          if (turn % worker.count() == worker.index()) worker.push(table, key, update, scale);
        }
      }
      worker.sync_barrier();
      for (const Key key : keys) {
        expect(worker.pull_if_local(table, key, value), "a local key");
        expect(equal_enough<T>(rule, value, reference.value(key)), "a value with the rule " + rule.name());
      }
      worker.barrier();
    }
    if (worker.index() + 1 != worker.count()) return;
    const Lease lease = worker.lease(table, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      expect(equal_enough<T>(rule, lease.values(table).state(i), reference.state(keys[i])),
             "a state with the rule " + rule.name());
    }
  });
}

// Adds the results of every way to merge these successive gradients: all values that are possible.
template <Element T>
void add_results(const Rule<T>& rule, const RuleReference<T>& before, Key key,
                 std::span<const std::vector<T>> gradients, std::vector<RuleReference<T>>& results) {
  if (gradients.empty()) return results.push_back(before);
  std::vector<T> sum(kLength, 0);
  for (std::size_t count = 1; count <= gradients.size(); ++count) {
    const std::vector<T>& next = gradients[count - 1];
    if (count == 1) sum = next;
    for (std::size_t i = 0; count > 1 && i < kLength; ++i) sum[i] += next[i];
    std::vector<T> merged = sum;
    rule.merge(merged, count);
    RuleReference<T> after = before;
    after.push(key, merged);
    add_results(rule, after, key, gradients.subspan(count), results);
  }
}

// One worker makes several pushes to its replica. The rounds determine which of them are merged together.
template <Element T>
void check_merges(ParameterManager& manager, const Rule<T>& rule) {
  const TableOptions options = options_of(rule.rule, false, manager.ranks());
  const auto table = manager.create_table<T>(options);
  manager.run_workers(1, [&](IntentWorker& worker) {
    const auto keys = copied_keys(false, kKeys, worker.ranks());
    make_local(worker, table, keys);
    std::mt19937_64 random(42);
    std::vector<T> value(kLength);
    RuleReference<T> reference(rule.rule, kLength, options.initialiser, options.seed);
    for (std::size_t turn = 0; turn < 20; ++turn) {
      const Key key = keys[random() % kKeys];
      std::vector<std::vector<T>> gradients;
      for (int i = 0; i < 4; ++i) gradients.push_back(noise<T>(random));
      const auto find_result = [&](std::size_t pushed) {
        worker.pull(table, key, value).wait();
        std::vector<RuleReference<T>> results;
        add_results<T>(rule, reference, key, std::span<const std::vector<T>>(gradients).first(pushed),
                       results);
        const auto found = std::ranges::find_if(
            results, [&](RuleReference<T>& result) { return result.equal_value(key, value); });
        expect(found != results.end(),
               "the result of " + std::to_string(pushed) + " gradients with the rule " + rule.rule.name());
        return *found;
      };
      if (turn % worker.count() == worker.index()) {
        for (std::size_t i = 0; i < gradients.size(); ++i) {
          worker.push(table, key, gradients[i]);
          static_cast<void>(find_result(i + 1));
          worker.advance_clock();
        }
      }
      worker.sync_barrier();
      reference = find_result(gradients.size());
      worker.barrier();
    }
  });
}

}  // namespace

TEMPLATE_TEST_CASE("Pushes to copies give what a single-threaded reference does", "", float, double) {
  for (const bool sparse : {false, true}) {
    ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
    for (const Rule<TestType>& rule : all_rules<TestType>())
      check_pushes<TestType>(manager, rule.rule, sparse);
    manager.close();
  }
}

TEMPLATE_TEST_CASE("Gradients that are merged together are one step, as the rule's merge says", "", float,
                   double) {
  ParameterManager manager(MPI_COMM_WORLD, copies_by_intents());
  for (const Rule<TestType>& rule : gradient_rules<TestType>()) check_merges<TestType>(manager, rule);
  manager.close();
}
