// When to act on an intent: adaptive action timing (AdaPM paper, section 4.2 and algorithm 1).
#pragma once

#include <cstdint>

#include "lapse/core/types.hpp"

namespace adapm {

// For one worker. Learns how many clocks the worker advances in a communication round. An intent is acted on
// now if the worker may reach its start before the next round ends.
//
// A long round counts as several, because most intents start in long rounds. The paper weights all rounds
// equally; then a few long rounds among many short ones (shared processors) are forgotten too soon.
//
// Thread safety: none.
class ActionTimer {
 public:
  // The defaults are those of the paper, used there for all tasks: they need no tuning.
  struct Settings {
    double smoothing = 0.1;    // weight of a round in the estimate, 0 to 1
    double quantile = 0.9999;  // probability that the worker does not exceed the estimate, below 1
    double initial_rate = 10;  // clocks in a round, before the first round
    bool operator==(const Settings&) const = default;
  };

  // `now`: the worker's clock. Throws lapse::UsageError for settings outside their ranges.
  explicit ActionTimer(const Settings& settings, lapse::Clock now = {});

  // Begins a round at the worker's clock `now`. Returns a clock: intents that start before it are due. If the
  // clock has not advanced since the last round, the estimate stays unchanged: the worker may be between two
  // epochs.
  lapse::Clock begin_round(lapse::Clock now);

  // Begins a phase. Its first round may act on everything within the window, without the step limit.
  void begin_phase();

  // The estimated clocks in a round.
  double rate() const { return rate_; }

 private:
  // Limits how far the horizon moves in one round. Otherwise a long round lets the worker advance far, and
  // the next round is as long or longer; a wider window is reached in several rounds instead. A worker at the
  // estimated rate never waits for that.
  static constexpr double kRatesPerStep = 2;
  static constexpr std::int64_t kClocksPerStep = 2;

  Settings settings_;
  double normal_quantile_;  // for the probability of the settings
  double rate_;
  lapse::Clock last_;
  lapse::Clock horizon_;  // returned last; unlimited at first
};

// The quantile of a Poisson distribution, exact or up to two too large. `normal_quantile`: the quantile of
// the normal distribution for the same probability (3.719 for 0.9999). 0 for a mean of 0.
std::int64_t poisson_quantile(double mean, double normal_quantile);

}  // namespace adapm
