#include "lapse/store/update_rules/adam.hpp"

#include <fmt/format.h>

#include "lapse/store/update_rules/parameter_check.hpp"

namespace lapse {

std::string AdamRule::to_string() const {
  return fmt::format("{}(learning_rate={}, beta1={}, beta2={}, epsilon={}, l2={})", kName, learning_rate,
                     beta1, beta2, epsilon, l2);
}

void AdamRule::check(ElementType type) const {
  const ParameterCheck check(to_string(), type);
  check.not_negative("learning_rate", learning_rate);
  check.below_one("beta1", beta1);
  check.below_one("beta2", beta2);
  // A first gradient of 0 would divide 0 by 0.
  check.positive("epsilon", epsilon);
  check.not_negative("l2", l2);
}

}  // namespace lapse
