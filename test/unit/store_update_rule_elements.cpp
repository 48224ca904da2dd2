// Pushes to single elements.
#include <cstring>
#include <random>
#include <vector>

#include "lapse/store/copy_merger.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "test/support/catch.hpp"
#include "test/support/summed_gradients.hpp"
#include "test/unit/store_copy_slot.hpp"

using namespace lapse;
using lapse::test::CopySlot;

namespace {

constexpr std::size_t kLength = 23;

const std::vector<UpdateRule> kElementRules{
    UpdateRule::add(), UpdateRule::sgd({.learning_rate = 0.1}),
    UpdateRule::adagrad({.learning_rate = 0.1, .initial_accumulator = 0.01}),
    UpdateRule::ftrl({.alpha = 0.5, .l1 = 0.001, .l2 = 0.01})};

template <class T>
std::byte* bytes_of(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

template <class T>
T fraction(std::mt19937& random) {
  return static_cast<T>(static_cast<double>(random() % 2001) / 1000 - 1);
}

// A push to elements changes them, and their state, as a push of the value does with a value and state of
// these elements alone.
template <class T>
void check_rule(const UpdateRule& rule) {
  const UpdateKernel kernel(rule, element_type<T>());
  REQUIRE(kernel.is_elementwise());
  std::mt19937 random(3);
  const std::size_t states = rule.state_elements(1);
  REQUIRE(rule.state_elements(kLength) == states * kLength);
  std::vector<T> slot(kLength * (1 + states));
  for (std::size_t i = 0; i < kLength; ++i) slot[i] = fraction<T>(random);
  kernel.initialise(bytes_of(slot), kLength);
  std::vector<std::vector<T>> alone;
  for (std::size_t i = 0; i < kLength; ++i) {
    alone.push_back({slot[i]});
    alone[i].resize(1 + states);
    kernel.initialise(bytes_of(alone[i]), 1);
  }
  for (int push = 0; push < 50; ++push) {
    std::vector<std::uint32_t> indices(random() % 9);
    std::vector<T> updates(indices.size());
    const float scale = kernel.accepts_scale() && push % 3 == 0 ? 0.5F : 1.0F;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      indices[i] = static_cast<std::uint32_t>(random() % kLength);
      updates[i] = std::is_integral_v<T> ? static_cast<T>(random()) : fraction<T>(random);
      kernel.apply(bytes_of(alone[indices[i]]), bytes_of(updates) + i * sizeof(T), 1, scale);
    }
    kernel.apply_elements(bytes_of(slot), kLength, indices.data(), bytes_of(updates), indices.size(), scale);
  }
  for (std::size_t i = 0; i < kLength; ++i) {
    for (std::size_t s = 0; s <= states; ++s) {
      CAPTURE(rule.to_string(), i, s);
      CHECK(std::memcmp(&slot[s * kLength + i], &alone[i][s], sizeof(T)) == 0);
    }
  }
}

}  // namespace

TEST_CASE("Pushes to single elements give the bits of pushes of values") {
  for (const UpdateRule& rule : kElementRules) {
    check_rule<float>(rule);
    check_rule<double>(rule);
  }
  check_rule<std::int32_t>(UpdateRule::add());
  check_rule<std::int64_t>(UpdateRule::add());
}

TEST_CASE("Rules that need whole values have no pushes to single elements") {
  for (const UpdateRule& rule : {UpdateRule::assign(), UpdateRule::rowwise_adagrad(), UpdateRule::adam(),
                                 UpdateRule::custom<float>(lapse::test::SummedGradients<float>{})}) {
    CAPTURE(rule.to_string());
    CHECK_FALSE(UpdateKernel(rule, ElementType::float32).is_elementwise());
  }
}

TEST_CASE("Pushes to elements of a replica reach the owner like pushes of values with zeros") {
  for (const UpdateRule& rule : kElementRules) {
    const UpdateKernel kernel(rule, ElementType::float64);
    const ValueLayout layout{ElementType::float64, 0, rule.state_size(), CopyMerger::copies(rule.merge())};
    const CopyMerger merger(kernel, layout);
    std::mt19937 random(5);
    const auto owner_with = [&] {
      CopySlot<double> owner(merger, layout, kLength);
      std::vector<double> value(kLength);
      // A value that FTRL keeps exactly: that of its formula.
      owner.write(value);
      kernel.initialise(owner.content(), kLength);
      return owner;
    };
    CopySlot<double> owner = owner_with();
    CopySlot<double> by_values = owner_with();
    CopySlot<double> holder(merger, layout, kLength);
    CopySlot<double> values_holder(merger, layout, kLength);
    holder.become_copy_of(owner);
    values_holder.become_copy_of(by_values);
    for (int round = 0; round < 5; ++round) {
      for (int push = 0; push < 4; ++push) {
        std::vector<std::uint32_t> indices(1 + random() % 4);
        std::vector<double> updates(indices.size());
        std::vector<double> row(kLength, 0);
        for (std::size_t i = 0; i < indices.size(); ++i) {
          indices[i] = static_cast<std::uint32_t>((random() % 5) * 4 + i);
          updates[i] = fraction<double>(random);
          row[indices[i]] = updates[i];
        }
        merger.push_elements(holder.content(), kLength, indices.data(), bytes_of(updates), indices.size());
        values_holder.push(row);
      }
      CHECK(holder.numbers() == values_holder.numbers());
      CHECK(holder.head().pushes == values_holder.head().pushes);
      const std::vector<std::byte> delta = holder.take_delta();
      CHECK(holder.intact(delta));
      owner.apply_delta(delta);
      by_values.apply_delta(values_holder.take_delta());
      holder.refresh(owner);
      values_holder.refresh(by_values);
      CHECK(owner.numbers() == by_values.numbers());
      CHECK(holder.numbers() == owner.numbers());
      CHECK(holder.intact());
    }
  }
}
