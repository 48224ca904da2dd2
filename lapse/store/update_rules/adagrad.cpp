#include "lapse/store/update_rules/adagrad.hpp"

#include <fmt/format.h>

#include "lapse/store/update_rules/parameter_check.hpp"

namespace lapse {

namespace {

template <class Rule>
std::string text_of(const Rule& rule) {
  return fmt::format("{}(learning_rate={}, l2={}, initial_accumulator={}, epsilon={})", Rule::kName,
                     rule.learning_rate, rule.l2, rule.initial_accumulator, rule.epsilon);
}

template <class Rule>
void check_parameters(const Rule& rule, ElementType type) {
  const ParameterCheck check(rule.to_string(), type);
  check.not_negative("learning_rate", rule.learning_rate);
  check.not_negative("l2", rule.l2);
  check.not_negative("initial_accumulator", rule.initial_accumulator);
  check.not_negative("epsilon", rule.epsilon);
  // A first gradient of 0 would divide 0 by 0.
  check.require(check.rounded(rule.epsilon) > 0 || check.rounded(rule.initial_accumulator) > 0, "epsilon",
                rule.epsilon, "a number above 0 where initial_accumulator is 0");
}

}  // namespace

std::string AdagradRule::to_string() const {
  return text_of(*this);
}
void AdagradRule::check(ElementType type) const {
  check_parameters(*this, type);
}

std::string RowwiseAdagradRule::to_string() const {
  return text_of(*this);
}
void RowwiseAdagradRule::check(ElementType type) const {
  check_parameters(*this, type);
}

}  // namespace lapse
