#include "apps/matrix_factorization/learning_rate.hpp"

namespace lapse::apps {

void LearningRate::epoch_finished(double train_rmse) {
  ++epochs_;
  if (options_.kind == LearningRateOptions::Kind::decay) {
    current_ = options_.initial / (1 + options_.decay * static_cast<double>(epochs_));
  } else {
    const bool improved = epochs_ == 1 || train_rmse < last_rmse_;
    current_ *= improved ? 1.05 : 0.5;
    last_rmse_ = train_rmse;
  }
}

}  // namespace lapse::apps
