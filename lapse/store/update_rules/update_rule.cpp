#include "lapse/store/update_rules/update_rule.hpp"

#include "lapse/store/update_rules/adagrad.hpp"
#include "lapse/store/update_rules/adam.hpp"
#include "lapse/store/update_rules/custom_definition.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/store/update_rules/ftrl.hpp"
#include "lapse/store/update_rules/optimiser_definition.hpp"
#include "lapse/store/update_rules/plain_rules.hpp"
#include "lapse/store/update_rules/sgd.hpp"

namespace lapse {

UpdateRule UpdateRule::add() {
  return UpdateRule(std::make_shared<const AddDefinition>());
}

UpdateRule UpdateRule::assign() {
  return UpdateRule(std::make_shared<const AssignDefinition>());
}

UpdateRule UpdateRule::sgd(const Sgd& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<SgdRule>>(parameters, &Kernels<float>::sgd,
                                                                         &Kernels<double>::sgd));
}

UpdateRule UpdateRule::adagrad(const Adagrad& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<AdagradRule>>(
      parameters, &Kernels<float>::adagrad, &Kernels<double>::adagrad));
}

UpdateRule UpdateRule::rowwise_adagrad(const RowwiseAdagrad& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<RowwiseAdagradRule>>(
      parameters, &Kernels<float>::rowwise_adagrad, &Kernels<double>::rowwise_adagrad));
}

UpdateRule UpdateRule::adam(const Adam& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<AdamRule>>(parameters, &Kernels<float>::adam,
                                                                          &Kernels<double>::adam));
}

UpdateRule UpdateRule::ftrl(const Ftrl& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<FtrlRule>>(parameters, &Kernels<float>::ftrl,
                                                                          &Kernels<double>::ftrl));
}

UpdateRule UpdateRule::from_functions(CustomRuleFunctions functions) {
  return UpdateRule(std::make_shared<const CustomRuleDefinition>(std::move(functions)));
}

UpdateRuleKind UpdateRule::kind() const {
  return definition_->kind();
}
std::string UpdateRule::name() const {
  return definition_->name();
}
std::string UpdateRule::to_string() const {
  return definition_->to_string();
}
Merge UpdateRule::merge() const {
  return definition_->merge();
}
bool UpdateRule::accepts_scale(ElementType type) const {
  return definition_->accepts_scale(type);
}
void UpdateRule::check(ElementType type) const {
  definition_->check(type);
}
StateSize UpdateRule::state_size() const {
  return definition_->state_size();
}
std::size_t UpdateRule::state_elements(std::size_t length) const {
  return state_size().elements(length);
}

}  // namespace lapse
