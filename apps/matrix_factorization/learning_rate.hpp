// The step size of each epoch.
#pragma once

#include <cstdint>

namespace lapse::apps {

struct LearningRateOptions {
  enum class Kind : std::uint8_t { decay, bold_driver };

  Kind kind = Kind::decay;
  double initial = 0.03;
  double decay = 0.1;  // kind decay: the rate in epoch e (from 0) is initial / (1 + decay e)
};

// The bold driver (as used by Gemulla et al., KDD'11) compares the training error with that of the epoch
// before: it raises the rate by 5 % after an improvement, and halves it otherwise.
class LearningRate {
 public:
  explicit LearningRate(const LearningRateOptions& options)
      : options_(options), state_{.current = options.initial} {}

  // The state of the next rate, for resuming with the same options.
  struct State {
    double current = 0;
    std::uint64_t epochs = 0;
    double last_rmse = 0;
  };
  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

  double current() const { return state_.current; }
  // Reports the error of an epoch on the training cells; the bold driver needs every one.
  void epoch_finished(double train_rmse);

 private:
  LearningRateOptions options_;
  State state_;
};

}  // namespace lapse::apps
