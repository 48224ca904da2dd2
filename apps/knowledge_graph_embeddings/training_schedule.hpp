// How the learning rate falls, and when training ends.
#pragma once

#include <cstdint>
#include <optional>

namespace lapse::apps {

struct ScheduleOptions {
  double rate_decay = 1;       // factor of the learning rate after every epoch
  double plateau_decay = 1;    // and after every evaluation without improvement
  std::uint64_t patience = 0;  // evaluations in a row without improvement that end the training; 0: none do
};

// What the quality on validation triples says about the training. Every rank observes the same numbers, and
// decides alike.
class TrainingSchedule {
 public:
  explicit TrainingSchedule(const ScheduleOptions& options) : options_(options) {}

  // The factor of the learning rate in this epoch, from 0.
  float rate(std::uint64_t epoch) const;
  // An evaluation; the larger, the better. Returns whether it is the best so far.
  bool observe(double quality);
  // What was observed, for a schedule with the same options that goes on.
  struct State {
    std::optional<double> best = {};
    std::uint64_t failures = 0;  // evaluations since the best
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
