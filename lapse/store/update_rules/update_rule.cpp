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
  using Definition = OptimiserDefinition<SgdRule>;
  return UpdateRule(std::make_shared<const Definition>(
      parameters, Definition::Loops{.values_float = &Kernels<float>::sgd,
                                    .values_double = &Kernels<double>::sgd,
                                    .elements_float = &Kernels<float>::sgd_elements,
                                    .elements_double = &Kernels<double>::sgd_elements}));
}

UpdateRule UpdateRule::adagrad(const Adagrad& parameters) {
  using Definition = OptimiserDefinition<AdagradRule>;
  return UpdateRule(std::make_shared<const Definition>(
      parameters, Definition::Loops{.values_float = &Kernels<float>::adagrad,
                                    .values_double = &Kernels<double>::adagrad,
                                    .elements_float = &Kernels<float>::adagrad_elements,
                                    .elements_double = &Kernels<double>::adagrad_elements}));
}

UpdateRule UpdateRule::rowwise_adagrad(const RowwiseAdagrad& parameters) {
  using Definition = OptimiserDefinition<RowwiseAdagradRule>;
  return UpdateRule(std::make_shared<const Definition>(
      parameters, Definition::Loops{.values_float = &Kernels<float>::rowwise_adagrad,
                                    .values_double = &Kernels<double>::rowwise_adagrad}));
}

UpdateRule UpdateRule::adam(const Adam& parameters) {
  using Definition = OptimiserDefinition<AdamRule>;
  return UpdateRule(std::make_shared<const Definition>(
      parameters,
      Definition::Loops{.values_float = &Kernels<float>::adam, .values_double = &Kernels<double>::adam}));
}

UpdateRule UpdateRule::ftrl(const Ftrl& parameters) {
  using Definition = OptimiserDefinition<FtrlRule>;
  return UpdateRule(std::make_shared<const Definition>(
      parameters, Definition::Loops{.values_float = &Kernels<float>::ftrl,
                                    .values_double = &Kernels<double>::ftrl,
                                    .elements_float = &Kernels<float>::ftrl_elements,
                                    .elements_double = &Kernels<double>::ftrl_elements}));
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
