#include "adapm/action_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/poisson.hpp>
#include <limits>

#include "lapse/core/error.hpp"

namespace adapm {

using lapse::Clock;

namespace {
constexpr Clock kLast(std::numeric_limits<std::int64_t>::max());

Clock later(Clock clock, std::int64_t clocks) {
  return clock.value() > kLast.value() - clocks ? kLast : Clock(clock.value() + clocks);
}
}  // namespace

std::int64_t poisson_quantile(double mean, double probability) {
  if (mean <= 0) return 0;
  // Integers only, rounded upwards: the probability of not exceeding the result is at least the wanted one.
  using Upwards = boost::math::policies::policy<
      boost::math::policies::discrete_quantile<boost::math::policies::integer_round_up>>;
  const boost::math::poisson_distribution<double, Upwards> distribution(mean);
  return static_cast<std::int64_t>(boost::math::quantile(distribution, probability));
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
}

Clock ActionTimer::begin_round(Clock now) {
  const double advanced = static_cast<double>(now.value() - last_.value());
  last_ = now;
  if (advanced > 0) rate_ += settings_.smoothing * (advanced - rate_);
  // A worker that was faster than estimated may have been slowed down before: then the estimate is too low.
  const double rate = std::max(rate_, advanced);
  if (rate != window_rate_) {
    window_rate_ = rate;
    window_ = poisson_quantile(2 * rate, settings_.quantile);  // this round and the next
  }
  const auto step = static_cast<std::int64_t>(kRatesPerStep * rate_) + kClocksPerStep;
  return horizon_ = std::min(later(now, window_), later(std::max(horizon_, now), step));
}

}  // namespace adapm
