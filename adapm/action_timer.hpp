// When to act on an intent: adaptive action timing (AdaPM paper, section 4.2 and algorithm 1).
#pragma once

#include <cstdint>

#include "lapse/core/types.hpp"

namespace adapm {

// For one worker. Learns how many clocks the worker advances during a communication round, and so how far
// ahead of its clock it has to be served: an intent has to be acted on now if the worker may reach its start
// before the round after this one ends.
//
// A long round counts as several: most intents start in long rounds. The paper has each round count alike, so
// that a few long ones among many short ones, as on shared processors, are forgotten before the next one
// comes.
//
// A pure value. Thread safety: none.
class ActionTimer {
 public:
  // The paper's, which its authors used for all tasks: they need no tuning.
  struct Settings {
    double smoothing = 0.1;    // weight of a round in the estimate, 0 to 1
    double quantile = 0.9999;  // probability that the worker does not get past the estimate, below 1
    double initial_rate = 10;  // clocks in a round, before there was one
    bool operator==(const Settings&) const = default;
  };

  // `now`: the worker's clock. Throws lapse::UsageError for settings outside their ranges.
  explicit ActionTimer(const Settings& settings, lapse::Clock now = {});

  // A round begins at the worker's clock `now`. Intents that start before the returned clock are to be acted
  // on. In a round in which the clock has not advanced, the estimate stays as it was: the worker may be
  // between two epochs.
  lapse::Clock begin_round(lapse::Clock now);

  // A phase begins: nothing is near yet, so that the first round may want all that is within its window.
  void begin_phase();

  // The estimated clocks in a round.
  double rate() const { return rate_; }

 private:
  // The longest step of the horizon in a round. A round that has much to do takes long; the worker gets far
  // meanwhile, and the next round would have as much to do, or more: instead, a wider window is reached in
  // several rounds. A worker at the estimated rate never has to wait for that.
  static constexpr double kRatesPerStep = 2;
  static constexpr std::int64_t kClocksPerStep = 2;

  Settings settings_;
  double normal_quantile_;  // for the probability of the settings
  double rate_;
  lapse::Clock last_;
  lapse::Clock horizon_;  // that was returned last; at first, nothing holds it back
};

// About the smallest number that a random number of a Poisson distribution does not exceed with the
// probability that belongs to this quantile of the normal distribution (3.719 for 0.9999): the smallest, or
// up to two more. 0 for a mean of 0.
std::int64_t poisson_quantile(double mean, double normal_quantile);

}  // namespace adapm
