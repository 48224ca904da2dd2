#include "adapm/action_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <limits>

#include "lapse/core/error.hpp"

namespace adapm {

using lapse::Clock;

namespace {
constexpr double kLargestCount = 1e18;
constexpr Clock kLast(std::numeric_limits<std::int64_t>::max());

Clock later(Clock clock, std::int64_t clocks) {
  return clock.value() > kLast.value() - clocks ? kLast : Clock(clock.value() + clocks);
}
}  // namespace

std::int64_t poisson_quantile(double mean, double normal_quantile) {
  if (mean <= 0) return 0;
  // Cornish-Fisher expansion with the skewness, and a continuity correction of half a count.
  const double z = normal_quantile;
  const double quantile = mean + std::sqrt(mean) * z + (z * z - 1) / 6 - 0.5;
  return static_cast<std::int64_t>(std::clamp(std::ceil(quantile), 0.0, kLargestCount));
}

ActionTimer::ActionTimer(const Settings& settings, Clock now)
    : settings_(settings), rate_(settings.initial_rate), last_(now), horizon_(kLast) {
  const auto check = [](bool right, const char* name, double value, const char* expected) {
    if (!right)
      throw lapse::UsageError(fmt::format("action timing: {} is {}: expected {}", name, value, expected));
  };
  check(settings.smoothing >= 0 && settings.smoothing <= 1, "the smoothing factor", settings.smoothing,
        "0 to 1");
  check(settings.quantile > 0 && settings.quantile < 1, "the quantile", settings.quantile,
        "a number between 0 and 1");
  check(settings.initial_rate >= 0 && settings.initial_rate <= 1e9, "the initial rate", settings.initial_rate,
        "0 to 1e9 clocks in a round");
  normal_quantile_ = boost::math::quantile(boost::math::normal(), settings.quantile);
}

Clock ActionTimer::begin_round(Clock now) {
  const double advanced = static_cast<double>(now.value() - last_.value());
  last_ = now;
  if (advanced > 0) {
    // A long round counts as many times as it exceeds the estimate.
    const double times = std::max(1.0, advanced / std::max(rate_, 1.0));
    rate_ += (1 - std::pow(1 - settings_.smoothing, times)) * (advanced - rate_);
  }
  // A worker faster than estimated may have been slowed down before; then the estimate is too low.
  const double rate = std::max(rate_, advanced);
  const std::int64_t window = poisson_quantile(2 * rate, normal_quantile_);  // this round and the next
  const auto step =
      static_cast<std::int64_t>(std::min(kRatesPerStep * rate_, kLargestCount)) + kClocksPerStep;
  return horizon_ = std::min(later(now, window), later(std::max(horizon_, now), step));
}

void ActionTimer::begin_phase() {
  horizon_ = kLast;
}

}  // namespace adapm
