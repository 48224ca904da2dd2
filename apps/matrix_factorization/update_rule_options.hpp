// The table's update rule for pushes of the training.
#pragma once

#include "lapse/store/update_rules/update_rule.hpp"

namespace lapse::apps {

// The rule's learning rate is that of the first epoch; the scale of a push adjusts it to the current epoch.
// Regularization is part of the gradients, because factors and biases have different strengths.
struct UpdateRuleOptions {
  UpdateRuleKind kind = UpdateRuleKind::add;  // or one of the optimisers
  double initial_accumulator = Adagrad{}.initial_accumulator;
  double beta1 = Adam{}.beta1;
  double beta2 = Adam{}.beta2;
  double beta = Ftrl{}.beta;
  double l1 = Ftrl{}.l1;
};

// Throws ConfigurationError for kinds that training does not support.
UpdateRule make_update_rule(const UpdateRuleOptions& options, double learning_rate);

}  // namespace lapse::apps
