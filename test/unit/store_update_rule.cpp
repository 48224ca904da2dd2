#include "lapse/store/update_rules/update_rule.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"
#include "test/support/catch.hpp"

using lapse::Adagrad;
using lapse::Adam;
using lapse::ConfigurationError;
using lapse::ElementType;
using lapse::Ftrl;
using lapse::Merge;
using lapse::RowwiseAdagrad;
using lapse::Sgd;
using lapse::UpdateKernel;
using lapse::UpdateRule;
using lapse::UpdateRuleKind;

namespace {

template <class T>
std::vector<T> applied(const UpdateRule& rule, std::vector<T> value, const std::vector<T>& update) {
  UpdateKernel(rule, lapse::element_type<T>())
      .apply(reinterpret_cast<std::byte*>(value.data()), reinterpret_cast<const std::byte*>(update.data()),
             value.size());
  return value;
}

template <class T>
void check_type() {
  const std::vector<T> value{T{1}, T{2}, T{-3}, T{0}, T{100}};
  const std::vector<T> update{T{10}, T{-20}, T{3}, T{0}, T{1}};
  CHECK(applied(UpdateRule::add(), value, update) == std::vector<T>{T{11}, T{-18}, T{0}, T{0}, T{101}});
  CHECK(applied(UpdateRule::assign(), value, update) == update);
}

template <class T>
void check_wrap() {
  constexpr T kMax = std::numeric_limits<T>::max();
  constexpr T kLeast = std::numeric_limits<T>::min();
  CHECK(applied<T>(UpdateRule::add(), {kMax, kLeast, kLeast}, {T{1}, T{-1}, kLeast}) ==
        std::vector<T>{kLeast, kMax, T{0}});
}

std::string problem(const UpdateRule& rule, ElementType type) {
  try {
    rule.check(type);
  } catch (const ConfigurationError& error) {
    return error.what();
  }
  return "";
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("Add and assign apply to every element type") {
  check_type<float>();
  check_type<double>();
  check_type<std::int32_t>();
  check_type<std::int64_t>();
}

TEST_CASE("Integers wrap around") {
  check_wrap<std::int32_t>();
  check_wrap<std::int64_t>();
}

TEST_CASE("Integers are exact beyond what a floating-point number can count") {
  const std::int64_t large = (std::int64_t{1} << 62) + 1;
  CHECK(applied<std::int64_t>(UpdateRule::add(), {large, 0}, {3, large}) ==
        std::vector<std::int64_t>{large + 3, large});
}

TEST_CASE("An update touches the elements it is for and no others") {
  const std::vector<std::int32_t> value{1, 2, 3, 4};
  const std::vector<std::int32_t> update{5, 5, 5, 5};
  for (const UpdateRule& rule : {UpdateRule::add(), UpdateRule::assign()}) {
    std::vector<std::int32_t> copy = value;
    UpdateKernel(rule, ElementType::int32)
        .apply(reinterpret_cast<std::byte*>(copy.data()), reinterpret_cast<const std::byte*>(update.data()),
               2);
    CHECK(copy[1] != 2);
    CHECK(copy[2] == 3);
    CHECK(copy[3] == 4);
  }
}

TEST_CASE("Update rules report what they are") {
  struct Expected {
    UpdateRule rule;
    UpdateRuleKind kind;
    std::string text;
    Merge merge;
    std::size_t state_of_10;
  };
  const std::vector<Expected> all{
      {UpdateRule(), UpdateRuleKind::add, "add", Merge::additive_slot, 0},
      {UpdateRule::assign(), UpdateRuleKind::assign, "assign", Merge::none, 0},
      {UpdateRule::sgd(), UpdateRuleKind::sgd, "sgd(learning_rate=0.01, l2=0)", Merge::additive_slot, 0},
      {UpdateRule::adagrad(), UpdateRuleKind::adagrad,
       "adagrad(learning_rate=0.01, l2=0, initial_accumulator=0, epsilon=1e-10)", Merge::additive_slot, 10},
      {UpdateRule::rowwise_adagrad(), UpdateRuleKind::rowwise_adagrad,
       "rowwise_adagrad(learning_rate=0.01, l2=0, initial_accumulator=0, epsilon=1e-10)",
       Merge::additive_slot, 1},
      {UpdateRule::adam(), UpdateRuleKind::adam,
       "adam(learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-08, l2=0)", Merge::gradient, 21},
      {UpdateRule::ftrl(), UpdateRuleKind::ftrl, "ftrl(alpha=0.1, beta=1, l1=0, l2=0)", Merge::gradient, 20},
  };
  for (const Expected& expected : all) {
    CAPTURE(expected.text);
    CHECK(expected.rule.kind() == expected.kind);
    CHECK(expected.rule.to_string() == expected.text);
    CHECK(expected.rule.name() == expected.text.substr(0, expected.text.find('(')));
    CHECK(expected.rule.merge() == expected.merge);
    CHECK(expected.rule.state_elements(10) == expected.state_of_10);
    CHECK(problem(expected.rule, ElementType::float32).empty());
    CHECK(problem(expected.rule, ElementType::float64).empty());
    CHECK(expected.rule.accepts_scale(ElementType::float32) == (expected.text != "assign"));
    CHECK(!UpdateRule::add().accepts_scale(ElementType::int64));
  }
}

TEST_CASE("The text of a rule distinguishes parameters that differ in the last bit") {
  const double rate = 0.1;
  CHECK(UpdateRule::sgd({.learning_rate = rate}).to_string() !=
        UpdateRule::sgd({.learning_rate = std::nextafter(rate, 1)}).to_string());
}

TEST_CASE("Optimisers need floating-point elements") {
  for (const UpdateRule& rule : {UpdateRule::sgd(), UpdateRule::adagrad(), UpdateRule::rowwise_adagrad(),
                                 UpdateRule::adam(), UpdateRule::ftrl()}) {
    CHECK_THAT(problem(rule, ElementType::int32), Catch::Contains(rule.name()) && Catch::Contains("int32") &&
                                                      Catch::Contains("float or double"));
    CHECK_THROWS_AS(UpdateKernel(rule, ElementType::int64), ConfigurationError);
  }
}

TEST_CASE("Impossible parameters are refused by name") {
  const std::vector<std::pair<UpdateRule, std::string>> all{
      {UpdateRule::sgd({.learning_rate = -1}), "learning_rate is -1"},
      {UpdateRule::sgd({.learning_rate = kNan}), "learning_rate is nan"},
      {UpdateRule::sgd({.learning_rate = 1e300}), "learning_rate is 1e+300"},
      {UpdateRule::sgd({.l2 = -0.5}), "l2 is -0.5"},
      {UpdateRule::adagrad({.learning_rate = kInfinity}), "learning_rate is inf"},
      {UpdateRule::adagrad({.l2 = kNan}), "l2 is nan"},
      {UpdateRule::adagrad({.initial_accumulator = -1}), "initial_accumulator is -1"},
      {UpdateRule::adagrad({.epsilon = 0}), "epsilon is 0"},
      {UpdateRule::adagrad({.epsilon = 1e-60}), "epsilon is 1e-60"},
      {UpdateRule::rowwise_adagrad({.epsilon = -1}), "epsilon is -1"},
      {UpdateRule::adam({.learning_rate = -1}), "learning_rate is -1"},
      {UpdateRule::adam({.beta1 = 1}), "beta1 is 1"},
      {UpdateRule::adam({.beta1 = -0.1}), "beta1 is -0.1"},
      {UpdateRule::adam({.beta2 = kNan}), "beta2 is nan"},
      {UpdateRule::adam({.beta2 = 1 - 1e-12}), "beta2 is 0.999999999999"},
      {UpdateRule::adam({.epsilon = 0}), "epsilon is 0"},
      {UpdateRule::adam({.l2 = -1}), "l2 is -1"},
      {UpdateRule::ftrl({.alpha = 0}), "alpha is 0"},
      {UpdateRule::ftrl({.beta = -1}), "beta is -1"},
      {UpdateRule::ftrl({.beta = 0}), "beta / alpha + l2 is 0"},
      {UpdateRule::ftrl({.l1 = -1}), "l1 is -1"},
      {UpdateRule::ftrl({.l2 = kInfinity}), "l2 is inf"},
  };
  for (const auto& [rule, text] : all) {
    CAPTURE(rule.to_string());
    CHECK_THAT(problem(rule, ElementType::float32), Catch::Contains(text) && Catch::Contains("expected"));
  }
  CHECK(
      problem(UpdateRule::adagrad({.initial_accumulator = 0.1, .epsilon = 0}), ElementType::float32).empty());
  CHECK(problem(UpdateRule::adagrad({.epsilon = 1e-60}), ElementType::float64).empty());
}
