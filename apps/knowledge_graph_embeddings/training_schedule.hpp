// Decides the learning rate, and when training ends.
#pragma once

#include <cstdint>
#include <optional>

namespace lapse::apps {

struct ScheduleOptions {
  double rate_decay = 1;       // factor of the learning rate per epoch
  double plateau_decay = 1;    // and per evaluation without improvement
  std::uint64_t patience = 0;  // consecutive evaluations without improvement that end the training; 0: never
};

// Decides by the quality on validation triples. Every rank observes the same numbers and decides the same.
class TrainingSchedule {
 public:
  explicit TrainingSchedule(const ScheduleOptions& options) : options_(options) {}

  // The factor of the learning rate in this epoch, from 0.
  float rate(std::uint64_t epoch) const;
  // Reports an evaluation; larger is better. Returns whether it is the best so far.
  bool observe(double quality);
  // The observations, for resuming with the same options.
  struct State {
    std::optional<double> best = {};
    std::uint64_t failures = 0;  // evaluations after the best
    double plateau_rate = 1;
  };
  const State& state() const { return state_; }
  void set_state(const State& state) { state_ = state; }

  bool is_finished() const { return options_.patience != 0 && state_.failures >= options_.patience; }

 private:
  ScheduleOptions options_;
  State state_;
};

}  // namespace lapse::apps
