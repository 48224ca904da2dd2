// How the step size changes from epoch to epoch.
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
// before: five per cent more after an improvement, half after none.
class LearningRate {
 public:
  explicit LearningRate(const LearningRateOptions& options)
      : options_(options), state_{.current = options.initial} {}

  // What the next rate depends on, for a training with the same options that goes on.
  struct State {
    double current = 0;
    std::uint64_t epochs = 0;
    double last_rmse = 0;
  };
  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

  double current() const { return state_.current; }
  // After an epoch: its error on the training cells, of which the bold driver needs every one.
  void epoch_finished(double train_rmse);

 private:
  LearningRateOptions options_;
  State state_;
};

}  // namespace lapse::apps
