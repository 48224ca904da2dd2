#include "lapse/store/copy_merger.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/merge.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_copy_slot.hpp"

using lapse::Copies;
using lapse::CopyMerger;
using lapse::ElementType;
using lapse::Merge;
using lapse::UpdateKernel;
using lapse::UpdateRule;
using lapse::ValueLayout;
using lapse::test::CopySlot;

namespace {

const std::vector<std::size_t> kCopyLengths{1, 2, 3, 5, 16, 25, 67};

// A rule with the layout of its table and the merger of its replicas.
struct BoundMerger {
  BoundMerger(const UpdateRule& rule, ElementType type)
      : kernel(rule, type),
        layout{type, 0, rule.state_size(), CopyMerger::copies(rule.merge())},
        merger(kernel, layout) {}

  UpdateKernel kernel;
  ValueLayout layout;
  CopyMerger merger;
};

// Updates with exact sums, also in floating point.
template <class T>
std::vector<T> exact_update(std::mt19937& random, std::size_t elements) {
  std::vector<T> update(elements);
  for (T& x : update) x = static_cast<T>(static_cast<int>(random() % 64) - 32);
  return update;
}

template <class T>
std::vector<T> fraction_update(std::mt19937& random, std::size_t elements) {
  std::vector<T> update(elements);
  for (T& x : update) x = static_cast<T>(static_cast<double>(random() % 2001) / 1000 - 1);
  return update;
}

template <class T>
std::vector<T> total(std::vector<T> a, const std::vector<T>& b) {
  for (std::size_t i = 0; i < b.size(); ++i) a[i] = static_cast<T>(a[i] + b[i]);
  return a;
}

template <class T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// An owner and three holders, with all steps in random order. Sums are exact, and a holder always sees its
// own pushes.
template <class T>
void check_sums(std::size_t elements, unsigned seed) {
  const BoundMerger bound(UpdateRule::add(), lapse::element_type<T>());
  std::mt19937 random(seed);
  CopySlot<T> owner(bound.merger, bound.layout, elements);
  owner.write(exact_update<T>(random, elements));
  std::vector<T> expected = owner.value();
  std::vector<CopySlot<T>> holders(3, CopySlot<T>(bound.merger, bound.layout, elements));
  std::vector<std::vector<T>> at_least(3, std::vector<T>(elements, T{0}));
  for (CopySlot<T>& holder : holders) holder.become_copy_of(owner);
  std::size_t last_pushed = 0;
  for (int step = 0; step < 300; ++step) {
    const std::size_t who = random() % 3;
    switch (random() % 4) {
      case 0: {
        const std::vector<T> update = exact_update<T>(random, elements);
        const std::vector<T> before = holders[who].value();
        holders[who].push(update);
        REQUIRE(holders[who].value() == total(before, update));
        expected = total(expected, update);
        last_pushed = who;
        break;
      }
      case 1: {
        const std::vector<T> update = exact_update<T>(random, elements);
        bound.kernel.apply(owner.content(), reinterpret_cast<const std::byte*>(update.data()), elements);
        expected = total(expected, update);
        break;
      }
      case 2: {
        const std::vector<std::byte> delta = holders[who].take_delta();
        owner.apply_delta(delta);
        REQUIRE(holders[who].intact(delta));
        holders[who].refresh(owner);
        break;
      }
      default:
        holders[who].refresh(owner);
        break;
    }
  }
  // The last holder becomes the owner with its unsent changes.
  for (std::size_t who = 0; who < 3; ++who) {
    if (who != last_pushed) owner.apply_delta(holders[who].take_delta());
  }
  holders[last_pushed].absorb(owner);
  CHECK(holders[last_pushed].value() == expected);
  for (const CopySlot<T>& holder : holders) CHECK(holder.intact());
}

// Differences of rules with state, compared with loops in this file.
template <class T>
void check_differences(const UpdateRule& rule, std::size_t elements) {
  const BoundMerger bound(rule, lapse::element_type<T>());
  std::mt19937 random(static_cast<unsigned>(elements));
  CopySlot<T> owner(bound.merger, bound.layout, elements);
  owner.write(fraction_update<T>(random, elements));
  bound.kernel.initialise(owner.content(), elements);
  CopySlot<T> holder(bound.merger, bound.layout, elements);
  holder.become_copy_of(owner);
  for (int round = 0; round < 5; ++round) {
    const std::vector<T> base = holder.numbers();
    for (int push = 0; push < 3; ++push) {
      const std::vector<T> update = fraction_update<T>(random, elements);
      holder.push(update, push == 2 ? 0.5F : 1.0F);
      bound.kernel.apply(owner.content(), reinterpret_cast<const std::byte*>(update.data()), elements);
    }
    // A refresh in between keeps unmerged changes.
    const std::vector<T> pushed = holder.numbers();
    const std::vector<T> main = owner.numbers();
    std::vector<T> refreshed(main.size());
    for (std::size_t i = 0; i < main.size(); ++i) {
      refreshed[i] = static_cast<T>(main[i] + static_cast<T>(pushed[i] - base[i]));
    }
    holder.refresh(owner);
    REQUIRE(same_bytes(holder.numbers(), refreshed));
    bool any = false;
    const std::vector<std::byte> delta = holder.take_delta(&any);
    CHECK(any);
    CHECK_FALSE(bound.merger.is_empty(delta.data(), elements));
    std::vector<T> merged(main.size());
    for (std::size_t i = 0; i < main.size(); ++i) {
      merged[i] = static_cast<T>(main[i] + static_cast<T>(refreshed[i] - main[i]));
    }
    owner.apply_delta(delta);
    REQUIRE(same_bytes(owner.numbers(), merged));
    // No change is left: the next refresh equals the main copy.
    CHECK(bound.merger.is_empty(holder.take_delta(&any).data(), elements));
    CHECK_FALSE(any);
    holder.refresh(owner);
    REQUIRE(same_bytes(holder.numbers(), owner.numbers()));
    CHECK(holder.intact(delta));
  }
}

// Gradients, compared with pushes of their sum.
template <class T>
void check_gradients(const UpdateRule& rule, std::size_t elements) {
  const BoundMerger bound(rule, lapse::element_type<T>());
  const auto apply = [&](CopySlot<T>& slot, const std::vector<T>& gradient) {
    bound.kernel.apply(slot.content(), reinterpret_cast<const std::byte*>(gradient.data()), elements);
  };
  std::mt19937 random(static_cast<unsigned>(elements));
  CopySlot<T> owner(bound.merger, bound.layout, elements);
  owner.write(fraction_update<T>(random, elements));
  bound.kernel.initialise(owner.content(), elements);
  CopySlot<T> holder(bound.merger, bound.layout, elements);
  CopySlot<T> reference(bound.merger, bound.layout, elements);
  holder.become_copy_of(owner);
  for (int round = 0; round < 5; ++round) {
    reference.write(holder.numbers());
    std::vector<T> sum(elements, T{0});
    for (int push = 0; push < round; ++push) {
      const std::vector<T> gradient = fraction_update<T>(random, elements);
      holder.push(gradient);
      apply(reference, gradient);
      sum = push == 0 ? gradient : total(sum, gradient);
    }
    // The holder sees its pushes and their number.
    REQUIRE(same_bytes(holder.numbers(), reference.numbers()));
    CHECK(holder.head().pushes == static_cast<std::uint32_t>(round));
    // A refresh shows the main copy with the unmerged changes.
    apply(owner, fraction_update<T>(random, elements));
    reference.write(owner.numbers());
    if (round != 0) apply(reference, sum);
    holder.refresh(owner);
    REQUIRE(same_bytes(holder.numbers(), reference.numbers()));
    // The owner makes one step with the sum.
    bool any = false;
    const std::vector<std::byte> delta = holder.take_delta(&any);
    CHECK(any == (round != 0));
    CHECK(bound.merger.is_empty(delta.data(), elements) == (round == 0));
    CHECK(holder.head().pushes == 0);
    owner.apply_delta(delta);
    REQUIRE(same_bytes(owner.numbers(), reference.numbers()));
    CHECK(bound.merger.is_empty(holder.take_delta(&any).data(), elements));
    CHECK_FALSE(any);
    holder.refresh(owner);
    REQUIRE(same_bytes(holder.numbers(), owner.numbers()));
    CHECK(holder.intact(delta));
    CHECK(owner.intact());
  }
  // Becomes the owner, with and without unmerged changes.
  const std::vector<T> gradient = fraction_update<T>(random, elements);
  holder.push(gradient);
  holder.push(gradient);
  apply(owner, gradient);
  reference.write(owner.numbers());
  apply(reference, total(gradient, gradient));
  CHECK(holder.absorb(owner));
  CHECK(same_bytes(holder.numbers(), reference.numbers()));
  CHECK(holder.head().pushes == 0);
  CHECK_FALSE(holder.absorb(owner));
  CHECK(same_bytes(holder.numbers(), owner.numbers()));
}

}  // namespace

TEST_CASE("Sums of pushes to several copies are exact, whatever the order") {
  for (const std::size_t elements : kCopyLengths) {
    check_sums<std::int32_t>(elements, 1);
    check_sums<std::int64_t>(elements, 2);
    check_sums<float>(elements, 3);
    check_sums<double>(elements, 4);
  }
}

TEST_CASE("Copies of additive rules merge by the differences of value and state") {
  const std::vector<UpdateRule> rules{UpdateRule::add(), UpdateRule::sgd({.l2 = 0.01}),
                                      UpdateRule::adagrad({.initial_accumulator = 0.1}),
                                      UpdateRule::rowwise_adagrad({.initial_accumulator = 0.1})};
  for (const UpdateRule& rule : rules) {
    for (const std::size_t elements : kCopyLengths) {
      CAPTURE(rule.to_string(), elements);
      check_differences<float>(rule, elements);
      check_differences<double>(rule, elements);
    }
  }
}

TEST_CASE("Copies of gradient rules merge by one step with the sum of the gradients") {
  for (const UpdateRule& rule : {UpdateRule::adam({.learning_rate = 0.1}), UpdateRule::ftrl({.l1 = 0.01})}) {
    for (const std::size_t elements : kCopyLengths) {
      CAPTURE(rule.to_string(), elements);
      check_gradients<float>(rule, elements);
      check_gradients<double>(rule, elements);
    }
  }
}

TEST_CASE("Integers wrap around, and a difference that wrapped around merges exactly") {
  const BoundMerger bound(UpdateRule::add(), ElementType::int32);
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  CopySlot<std::int32_t> owner(bound.merger, bound.layout, 3);
  owner.write({kMax, -5, 0});
  CopySlot<std::int32_t> holder(bound.merger, bound.layout, 3);
  holder.become_copy_of(owner);
  holder.push({10, kMax, 0});
  holder.push({kMax, -kMax, 1});
  owner.apply_delta(holder.take_delta());
  CHECK(owner.value() == holder.value());
  CHECK(owner.value()[1] == -5);
}

TEST_CASE("Infinities and not-a-numbers reach the owner, and are no difference afterwards") {
  const BoundMerger bound(UpdateRule::add(), ElementType::float32);
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CopySlot<float> owner(bound.merger, bound.layout, 4);
  owner.write({1, 2, 3, 4});
  CopySlot<float> holder(bound.merger, bound.layout, 4);
  holder.become_copy_of(owner);
  holder.push({infinity, nan, -infinity, 1});
  bool any = false;
  owner.apply_delta(holder.take_delta(&any));
  CHECK(any);
  CHECK(owner.value()[0] == infinity);
  CHECK(std::isnan(owner.value()[1]));
  CHECK(owner.value()[2] == -infinity);
  CHECK(owner.value()[3] == 5);
  CHECK(bound.merger.is_empty(holder.take_delta(&any).data(), 4));
  CHECK_FALSE(any);
  holder.refresh(owner);
  CHECK(same_bytes(holder.numbers(), owner.numbers()));
  // The owner was reset meanwhile: the replica follows.
  owner.write({0, 0, 0, 0});
  holder.refresh(owner);
  CHECK(holder.value() == std::vector<float>(4, 0.0F));
}

TEST_CASE("A copy that becomes the owner reports whether there was something to merge") {
  const BoundMerger bound(UpdateRule::adagrad(), ElementType::float64);
  CopySlot<double> owner(bound.merger, bound.layout, 5);
  owner.write({1, 2, 3, 4, 5});
  bound.kernel.initialise(owner.content(), 5);
  CopySlot<double> holder(bound.merger, bound.layout, 5);
  holder.become_copy_of(owner);
  owner.write({7, 7, 7, 7, 7});
  CHECK_FALSE(holder.absorb(owner));
  CHECK(same_bytes(holder.numbers(), owner.numbers()));
  holder.become_copy_of(owner);
  holder.push({0, 0, 0, 0, 1});
  CHECK(holder.absorb(owner));
  CHECK(holder.value()[4] < 7);
}

TEST_CASE("A copy that becomes the owner has no gradients left to send") {
  const BoundMerger bound(UpdateRule::adam(), ElementType::float64);
  CopySlot<double> owner(bound.merger, bound.layout, 5);
  owner.write({1, 2, 3, 4, 5});
  bound.kernel.initialise(owner.content(), 5);
  CopySlot<double> holder(bound.merger, bound.layout, 5);
  holder.become_copy_of(owner);
  holder.push({0, 0, 0, 0, 1});
  CHECK(holder.absorb(owner));
  CHECK(holder.head().pushes == 0);
  CHECK_FALSE(holder.absorb(owner));
}

TEST_CASE("Deltas and bases have the bytes of what they hold") {
  const BoundMerger adagrad(UpdateRule::adagrad(), ElementType::float32);
  CHECK(adagrad.merger.delta_bytes(5) == 40);
  CHECK(adagrad.merger.base_bytes(5) == 40);
  const BoundMerger adam(UpdateRule::adam(), ElementType::float64);
  CHECK(adam.merger.delta_bytes(5) == 48);
  CHECK(adam.merger.base_bytes(5) == 0);
  CHECK(adam.layout.slot_bytes(5) == 16 + 5 * 8 + 11 * 8 + 5 * 8 + 8);
}

TEST_CASE("What copies need follows from the merge class, and must agree with the rule") {
  CHECK(CopyMerger::copies(Merge::additive_slot) == Copies::differences);
  CHECK(CopyMerger::copies(Merge::gradient) == Copies::gradients);
  CHECK(CopyMerger::copies(Merge::none) == Copies::none);
  const auto make = [](const UpdateRule& rule, Copies copies) {
    return CopyMerger(UpdateKernel(rule, ElementType::float32),
                      {ElementType::float32, 1, rule.state_size(), copies});
  };
  CHECK_NOTHROW(make(UpdateRule::assign(), Copies::none));
  CHECK_NOTHROW(make(UpdateRule::adam(), Copies::none));
  CHECK_THROWS_AS(make(UpdateRule::assign(), Copies::differences), lapse::ConfigurationError);
  CHECK_THROWS_AS(make(UpdateRule::adam(), Copies::differences), lapse::ConfigurationError);
  CHECK_THROWS_AS(make(UpdateRule::add(), Copies::gradients), lapse::ConfigurationError);
}
