#include "apps/matrix_factorization/learning_rate.hpp"

namespace lapse::apps {

void LearningRate::epoch_finished(double train_rmse) {
  ++state_.epochs;
  if (options_.kind == LearningRateOptions::Kind::decay) {
    state_.current = options_.initial / (1 + options_.decay * static_cast<double>(state_.epochs));
  } else {
    const bool improved = state_.epochs == 1 || train_rmse < state_.last_rmse;
    state_.current *= improved ? 1.05 : 0.5;
    state_.last_rmse = train_rmse;
  }
}

}  // namespace lapse::apps
