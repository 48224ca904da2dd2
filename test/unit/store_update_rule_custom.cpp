// Update rules that users write.
#include <stdexcept>
#include <string>
#include <update_rules_example.hpp>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "lapse/store/values/value_layout.hpp"
#include "test/support/catch.hpp"

using lapse::ElementType;
using lapse::Merge;
using lapse::UpdateKernel;
using lapse::UpdateRule;
using lapse::UpdateRuleKind;
using lapse::ValueLayout;

namespace {

// The largest of all updates. The state, whose size is not linear, counts pushes. Initialising throws for
// negative values.
struct Largest {
  std::string label;

  std::string name() const { return label; }
  std::size_t state_elements(std::size_t length) const { return length * length; }
  void initialise(std::span<const std::int64_t> value, std::span<std::int64_t> state) const {
    if (value[0] < 0) throw std::domain_error("negative");
    for (std::int64_t& count : state) count = 0;
  }
  void apply(std::span<std::int64_t> value, std::span<std::int64_t> state,
             std::span<const std::int64_t> update, float /*scale*/) const {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = std::max(value[i], update[i]);
    for (std::int64_t& count : state) ++count;
  }
};

struct Stateless {
  static std::string name() { return "stateless"; }
  static std::size_t state_elements(std::size_t) { return 0; }
  static void initialise(std::span<const double>, std::span<double> state) { CHECK(state.empty()); }
  static void apply(std::span<double> value, std::span<double>, std::span<const double> update, float scale) {
    value[0] = static_cast<double>(scale) * update[0];
  }
  static Merge merge() { return Merge::none; }
};

struct WithoutApply {
  std::string name() const { return ""; }
  std::size_t state_elements(std::size_t) const { return 0; }
  void initialise(std::span<const float>, std::span<float>) const {}
};

static_assert(lapse::CustomRule<Momentum, float> && !lapse::CustomRule<Momentum, double>);
static_assert(lapse::CustomRule<Stateless, double> && !lapse::CustomRule<WithoutApply, float>);

template <class T>
std::byte* bytes(std::vector<T>& elements) {
  return reinterpret_cast<std::byte*>(elements.data());
}

}  // namespace

TEST_CASE("The custom rule of the documentation works") {
  const UpdateRule rule = momentum_rule();
  CHECK(rule.kind() == UpdateRuleKind::custom);
  CHECK(rule.to_string() == "custom(momentum 0.500000 0.500000)");
  CHECK(rule.merge() == Merge::gradient);
  CHECK(rule.state_elements(3) == 3);
  CHECK(ValueLayout{ElementType::float32, 3, rule.state_size()}.content_bytes() == 24);
  CHECK(rule.accepts_scale(ElementType::float32));

  const UpdateKernel kernel(rule, ElementType::float32);
  std::vector<float> slot{1, 2, 77, 77};
  kernel.initialise(bytes(slot), 2);
  CHECK(slot == std::vector<float>{1, 2, 0, 0});
  std::vector<float> gradient{1, -1};
  kernel.apply(bytes(slot), bytes(gradient), 2);
  CHECK(slot == std::vector<float>{0.5F, 2.5F, 1, -1});
  kernel.apply(bytes(slot), bytes(gradient), 2, 2.0F);
  CHECK(slot == std::vector<float>{-1, 4, 1.5F, -1.5F});

  gradient[1] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(kernel.apply(bytes(slot), bytes(gradient), 2), "a gradient is not finite");
  CHECK(slot[1] == 4);
}

TEST_CASE("A custom rule may have state of any size, and initialising may throw") {
  const UpdateRule rule = UpdateRule::custom<std::int64_t>(Largest{"largest"});
  CHECK(rule.name() == "largest");
  CHECK(rule.merge() == Merge::gradient);
  const ValueLayout layout{ElementType::int64, 3, rule.state_size()};
  CHECK(layout.state_elements() == 9);
  CHECK(layout.content_bytes(2) == 48);

  const UpdateKernel kernel(rule, ElementType::int64);
  std::vector<std::int64_t> slot{5, 5, 77, 77, 77, 77, 77};
  kernel.initialise(bytes(slot), 2);
  std::vector<std::int64_t> update{3, 9};
  kernel.apply(bytes(slot), bytes(update), 2);
  CHECK(slot == std::vector<std::int64_t>{5, 9, 1, 1, 1, 1, 77});
  slot[0] = -1;
  CHECK_THROWS_AS(kernel.initialise(bytes(slot), 2), std::domain_error);
}

TEST_CASE("A custom rule serves the element type that it was made for") {
  const UpdateRule rule = UpdateRule::custom<double>(Stateless());
  CHECK(rule.merge() == Merge::none);
  CHECK_THROWS_AS(UpdateKernel(rule, ElementType::float32), lapse::ConfigurationError);
  CHECK_THROWS_WITH(rule.check(ElementType::int64), Catch::Contains("custom(stateless)") &&
                                                        Catch::Contains("double") &&
                                                        Catch::Contains("int64"));
  const UpdateKernel kernel(rule, ElementType::float64);
  std::vector<double> value{1};
  std::vector<double> update{4};
  kernel.initialise(bytes(value), 1);
  kernel.apply(bytes(value), bytes(update), 1, 0.5F);
  CHECK(value[0] == 2);
}

TEST_CASE("A bound rule outlives the rule that it was made from, also when copied") {
  auto rule = std::make_unique<UpdateRule>(UpdateRule::custom<std::int64_t>(Largest{std::string(100, 'x')}));
  const UpdateKernel first(*rule, ElementType::int64);
  rule.reset();
  const UpdateKernel kernel = first;
  CHECK(kernel.rule().name() == std::string(100, 'x'));
  std::vector<std::int64_t> slot{1, 0};
  std::vector<std::int64_t> update{7};
  kernel.apply(bytes(slot), bytes(update), 1);
  CHECK(slot == std::vector<std::int64_t>{7, 1});
}
