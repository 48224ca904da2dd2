// The largest change that a push makes.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lapse/consistency/push_magnitude.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "test/support/catch.hpp"

using namespace lapse;

namespace {

template <class T>
double magnitude(const UpdateRule& rule, const std::vector<T>& updates, float scale = 1,
                 bool repeats = false) {
  return push_magnitude(rule, element_type<T>(), std::as_bytes(std::span(updates)).data(), updates.size(),
                        scale, repeats);
}

}  // namespace

TEST_CASE("magnitude: the largest element of an added update") {
  CHECK(magnitude<float>(UpdateRule::add(), {1, -3, 2}) == 3);
  CHECK(magnitude<double>(UpdateRule::add(), {1, -3, 2}, -0.5F) == 1.5);
  CHECK(magnitude<std::int32_t>(UpdateRule::add(), {1, -3, 2}) == 3);
  CHECK(magnitude<std::int64_t>(UpdateRule::add(), {std::numeric_limits<std::int64_t>::min()}) > 9e18);
  CHECK(magnitude<float>(UpdateRule::add(), {}) == 0);
  // The same element may be named more than once.
  CHECK(magnitude<float>(UpdateRule::add(), {1, -3, 2}, 1, true) == 6);
}

TEST_CASE("magnitude: what is no number counts as infinite") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  CHECK(magnitude<float>(UpdateRule::add(), {1, kInfinity}) == kInfinity);
  CHECK(magnitude<float>(UpdateRule::add(), {std::numeric_limits<float>::quiet_NaN(), 1}) == kInfinity);
  CHECK(magnitude<float>(UpdateRule::adagrad({}), {std::numeric_limits<float>::quiet_NaN()}) == kInfinity);
}

TEST_CASE("magnitude: a learning rate scales the update, and bounds that of Adagrad") {
  CHECK(magnitude<float>(UpdateRule::sgd({.learning_rate = 0.5}), {1, -3}, 2) == 3);
  CHECK(magnitude<float>(UpdateRule::adagrad({.learning_rate = 0.5}), {1, -300}, 2) == 1);
}

TEST_CASE("magnitude: rules whose changes do not follow from the push have none") {
  CHECK(bounds_changes(UpdateRule::add()));
  CHECK(bounds_changes(UpdateRule::sgd({.learning_rate = 1})));
  CHECK(bounds_changes(UpdateRule::adagrad({})));
  CHECK_FALSE(bounds_changes(UpdateRule::sgd({.learning_rate = 1, .l2 = 0.1})));
  CHECK_FALSE(bounds_changes(UpdateRule::assign()));
  CHECK_FALSE(bounds_changes(UpdateRule::adam({})));
  CHECK_FALSE(bounds_changes(UpdateRule::ftrl({})));
  CHECK_FALSE(bounds_changes(UpdateRule::rowwise_adagrad({})));
}
