#include "lapse/store/update_rules/sgd.hpp"

#include <fmt/format.h>

#include "lapse/store/update_rules/parameter_check.hpp"

namespace lapse {

std::string SgdRule::to_string() const {
  return fmt::format("{}(learning_rate={}, l2={})", kName, learning_rate, l2);
}

void SgdRule::check(ElementType type) const {
  const ParameterCheck check(to_string(), type);
  check.not_negative("learning_rate", learning_rate);
  check.not_negative("l2", l2);
}

}  // namespace lapse
