#include "lapse/store/update_rule.hpp"

#include "lapse/store/update_rules/optimiser_definition.hpp"
#include "lapse/store/update_rules/plain_rules.hpp"

namespace lapse {

UpdateRule UpdateRule::add() {
  return UpdateRule(std::make_shared<const AddDefinition>());
}

UpdateRule UpdateRule::assign() {
  return UpdateRule(std::make_shared<const AssignDefinition>());
}

UpdateRule UpdateRule::sgd(const Sgd& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<Sgd>>(parameters, &Kernels<float>::sgd,
                                                                     &Kernels<double>::sgd));
}

UpdateRule UpdateRule::adagrad(const Adagrad& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<Adagrad>>(parameters, &Kernels<float>::adagrad,
                                                                         &Kernels<double>::adagrad));
}

UpdateRule UpdateRule::rowwise_adagrad(const RowwiseAdagrad& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<RowwiseAdagrad>>(
      parameters, &Kernels<float>::rowwise_adagrad, &Kernels<double>::rowwise_adagrad));
}

UpdateRule UpdateRule::adam(const Adam& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<Adam>>(parameters, &Kernels<float>::adam,
                                                                      &Kernels<double>::adam));
}

UpdateRule UpdateRule::ftrl(const Ftrl& parameters) {
  return UpdateRule(std::make_shared<const OptimiserDefinition<Ftrl>>(parameters, &Kernels<float>::ftrl,
                                                                      &Kernels<double>::ftrl));
}

}  // namespace lapse
