#include "apps/matrix_factorization/update_rule_options.hpp"

#include "lapse/core/error.hpp"

namespace lapse::apps {

UpdateRule make_update_rule(const UpdateRuleOptions& options, double learning_rate) {
  switch (options.kind) {
    case UpdateRuleKind::add:
      return UpdateRule::add();
    case UpdateRuleKind::sgd:
      return UpdateRule::sgd({.learning_rate = learning_rate});
    case UpdateRuleKind::adagrad:
      return UpdateRule::adagrad(
          {.learning_rate = learning_rate, .initial_accumulator = options.initial_accumulator});
    case UpdateRuleKind::rowwise_adagrad:
      return UpdateRule::rowwise_adagrad(
          {.learning_rate = learning_rate, .initial_accumulator = options.initial_accumulator});
    case UpdateRuleKind::adam:
      return UpdateRule::adam(
          {.learning_rate = learning_rate, .beta1 = options.beta1, .beta2 = options.beta2});
    case UpdateRuleKind::ftrl:
      return UpdateRule::ftrl({.alpha = learning_rate, .beta = options.beta, .l1 = options.l1});
    case UpdateRuleKind::assign:
    case UpdateRuleKind::custom:
      break;
  }
  throw ConfigurationError("the update rule of the factors must be add or one of the library's optimisers");
}

}  // namespace lapse::apps
