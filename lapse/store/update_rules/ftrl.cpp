#include "lapse/store/update_rules/ftrl.hpp"

#include <fmt/format.h>

#include "lapse/store/update_rules/parameter_check.hpp"

namespace lapse {

std::string FtrlRule::to_string() const {
  return fmt::format("{}(alpha={}, beta={}, l1={}, l2={})", kName, alpha, beta, l1, l2);
}

void FtrlRule::check(ElementType type) const {
  const ParameterCheck check(to_string(), type);
  check.positive("alpha", alpha);
  check.not_negative("beta", beta);
  check.not_negative("l1", l1);
  check.not_negative("l2", l2);
  // The divisor for a value before its first push.
  check.positive("beta / alpha + l2", beta / alpha + l2);
}

}  // namespace lapse
