// Replicas with users' update rules.
#include <stdexcept>
#include <string>
#include <vector>

#include "lapse/store/copy_merger.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
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

// Subtracts updates and counts them in the state. n gradients that are merged count as their mean. Throws for
// an update of 100 after writing the first element, and for a mean of 50 while merging.
struct MeanStep {
  static std::string name() { return "mean step"; }
  static std::size_t state_elements(std::size_t) { return 1; }
  static void initialise(std::span<const double>, std::span<double> state) { state[0] = 0; }
  static void apply(std::span<double> value, std::span<double> state, std::span<const double> update, float) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (update[i] == 100) throw std::invalid_argument("100");
      value[i] -= update[i];
    }
    state[0] += 1;
  }
  static void merge(std::span<double> sum, std::size_t count) {
    for (double& x : sum) {
      x /= static_cast<double>(count);
      if (x == 50) throw std::domain_error("50");
    }
  }
};

// Adds updates to value and state.
struct Twofold {
  static std::string name() { return "twofold"; }
  static std::size_t state_elements(std::size_t length) { return length; }
  static void initialise(std::span<const std::int64_t>, std::span<std::int64_t> state) {
    for (std::int64_t& x : state) x = 0;
  }
  static void apply(std::span<std::int64_t> value, std::span<std::int64_t> state,
                    std::span<const std::int64_t> update, float) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      value[i] += update[i];
      state[i] += 2 * update[i];
    }
  }
  static Merge merge() { return Merge::additive_slot; }
};

struct MeanStepCopies {
  MeanStepCopies() {
    owner.write({1000, 2000, 3000, 0});
    holder.become_copy_of(owner);
  }

  UpdateRule rule = UpdateRule::custom<double>(MeanStep());
  ValueLayout layout{ElementType::float64, 3, rule.state_size(), Copies::gradients};
  CopyMerger merger{UpdateKernel(rule, ElementType::float64), layout};
  CopySlot<double> owner{merger, layout, 3};
  CopySlot<double> holder{merger, layout, 3};
};

using Numbers = std::vector<double>;

}  // namespace

TEST_CASE("A custom rule may say what several gradients at once mean") {
  MeanStepCopies copies;
  copies.holder.push({1, 2, 3});
  copies.holder.push({3, 4, 5});
  CHECK(copies.holder.numbers() == Numbers{996, 1994, 2992, 2});
  // A refresh shows the step that the owner will make.
  copies.holder.refresh(copies.owner);
  CHECK(copies.holder.numbers() == Numbers{998, 1997, 2996, 1});
  CHECK(copies.holder.head().pushes == 2);
  const std::vector<std::byte> delta = copies.holder.take_delta();
  copies.owner.apply_delta(delta);
  CHECK(copies.owner.numbers() == Numbers{998, 1997, 2996, 1});
  CHECK(copies.owner.intact(delta));
  copies.holder.push({2, 0, 0});
  copies.holder.push({4, 0, 0});
  CHECK(copies.holder.absorb(copies.owner));
  CHECK(copies.holder.numbers() == Numbers{995, 1997, 2996, 2});
}

TEST_CASE("A push to a copy that throws does not travel") {
  MeanStepCopies copies;
  copies.holder.push({1, 2, 3});
  CHECK_THROWS_AS(copies.holder.push({7, 100, 7}), std::invalid_argument);
  CHECK(copies.holder.head().pushes == 1);
  copies.owner.apply_delta(copies.holder.take_delta());
  CHECK(copies.owner.numbers() == Numbers{999, 1998, 2997, 1});
}

TEST_CASE("A custom rule that throws at the owner leaves the value and the delta as they were") {
  for (const double bad : {100.0, 50.0}) {
    MeanStepCopies copies;
    // The rule accepts each push alone, but not their sum.
    copies.holder.push({1, bad - 1, 7});
    copies.holder.push({1, bad + 1, 7});
    std::vector<std::byte> delta = copies.holder.take_delta();
    const std::vector<std::byte> before = delta;
    if (bad == 100) {
      CHECK_THROWS_AS(copies.owner.apply_delta(delta), std::invalid_argument);
    } else {
      CHECK_THROWS_AS(copies.owner.apply_delta(delta), std::domain_error);
    }
    CHECK(copies.owner.numbers() == Numbers{1000, 2000, 3000, 0});
    CHECK(delta == before);
  }
}

TEST_CASE("A custom rule that throws while a copy is refreshed leaves the copy and what it has not sent") {
  for (const double bad : {100.0, 50.0}) {
    MeanStepCopies copies;
    copies.holder.push({1, bad - 1, 7});
    copies.holder.push({1, bad + 1, 7});
    const Numbers before = copies.holder.numbers();
    copies.owner.write({0, 0, 0});
    CHECK_THROWS(copies.holder.refresh(copies.owner));
    CHECK(copies.holder.numbers() == before);
    CHECK(copies.holder.head().pushes == 2);
    CHECK_THROWS(copies.holder.absorb(copies.owner));
    CHECK(copies.holder.numbers() == before);
    CHECK(copies.holder.head().pushes == 2);
    const std::vector<std::byte> delta = copies.holder.take_delta();
    double sum = 0;
    std::memcpy(&sum, delta.data() + sizeof sum, sizeof sum);
    CHECK(sum == 2 * bad);
  }
}

TEST_CASE("An additive custom rule merges by the differences of value and state") {
  const UpdateRule rule = UpdateRule::custom<std::int64_t>(Twofold());
  const ValueLayout layout{ElementType::int64, 2, rule.state_size(), CopyMerger::copies(rule.merge())};
  const CopyMerger merger(UpdateKernel(rule, ElementType::int64), layout);
  CopySlot<std::int64_t> owner(merger, layout, 2);
  owner.write({5, 6, 0, 0});
  CopySlot<std::int64_t> first(merger, layout, 2);
  CopySlot<std::int64_t> second(merger, layout, 2);
  first.become_copy_of(owner);
  second.become_copy_of(owner);
  first.push({1, 2});
  second.push({10, 20});
  owner.apply_delta(first.take_delta());
  owner.apply_delta(second.take_delta());
  CHECK(owner.numbers() == std::vector<std::int64_t>{16, 28, 22, 44});
}
