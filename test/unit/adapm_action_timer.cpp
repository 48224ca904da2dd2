#include "adapm/action_timer.hpp"

#include <cmath>

#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"

using adapm::ActionTimer;
using adapm::poisson_quantile;
using lapse::Clock;

namespace {

// P(X <= n), summed term by term.
double poisson_probability(double mean, std::int64_t n) {
  double term = std::exp(-mean);
  double sum = term;
  for (std::int64_t i = 1; i <= n; ++i) {
    term *= mean / static_cast<double>(i);
    sum += term;
  }
  return sum;
}

}  // namespace

TEST_CASE(
    "The quantile of a Poisson distribution is the smallest number with at least that probability, or one "
    "more") {
  struct Probability {
    double normal_quantile;
    double value;
  };
  for (const double mean : {0.01, 0.5, 1.0, 3.0, 19.0, 20.0, 80.0, 333.3}) {
    for (const auto& [normal_quantile, probability] :
         {Probability{0, 0.5}, {1.281552, 0.9}, {2.326348, 0.99}, {3.719016, 0.9999}}) {
      const std::int64_t quantile = poisson_quantile(mean, normal_quantile);
      INFO("mean " << mean << " probability " << probability << " quantile " << quantile);
      CHECK(poisson_probability(mean, quantile) >= probability);
      if (quantile > 2) CHECK(poisson_probability(mean, quantile - 3) < probability);
    }
  }
  CHECK(poisson_quantile(0, 3.719) == 0);
  // Agrees with the normal distribution: mean + 3.719 deviations.
  CHECK(std::abs(static_cast<double>(poisson_quantile(1e8, 3.719016)) - (1e8 + 3.719e4)) < 10);
}

TEST_CASE("The window follows the clocks of past rounds (AdaPM, algorithm 1), and long ones most") {
  ActionTimer timer({});
  struct Round {
    std::int64_t advanced;
    double rate;
    std::int64_t window;
  };
  std::int64_t clock = 0;
  for (const auto& [advanced, rate, window] : {Round{0, 10, 39},
                                               {5, 9.5, 37},
                                               {0, 9.5, 37},
                                               {40, 20.4279, 42},
                                               {12, 19.5851, 65},
                                               {12, 18.8266, 63}}) {
    clock += advanced;
    CHECK(timer.begin_round(Clock(clock)).value() == clock + window);
    CHECK(timer.rate() == Approx(rate).epsilon(1e-5));
  }
}

TEST_CASE("The horizon moves on by about twice the estimated rate in a round") {
  ActionTimer timer({});
  CHECK(timer.begin_round(Clock(0)) == Clock(39));
  // The worker was fast in one round: algorithm 1 alone would ask for 907 clocks at once.
  CHECK(timer.begin_round(Clock(400)) == Clock(400 + 2 * 394 + 2));
  CHECK(poisson_quantile(2 * 400, 3.719016) == 907);
  // The horizon follows a worker that is this fast in every round.
  std::int64_t clock = 400;
  std::int64_t horizon = 0;
  for (int round = 0; round < 20; ++round) horizon = timer.begin_round(Clock(clock += 400)).value();
  CHECK(horizon == clock + 907);
}

TEST_CASE("The first round of a phase wants all that is within its window") {
  ActionTimer timer({});
  CHECK(timer.begin_round(Clock(0)) == Clock(39));
  CHECK(timer.begin_round(Clock(40)) == Clock(40 + 42 + 0));
  timer.begin_phase();
  CHECK(timer.begin_round(Clock(40)) == Clock(40 + poisson_quantile(2 * timer.rate(), 3.719016)));
  // Also if the horizon would move less.
  timer.begin_phase();
  CHECK(timer.begin_round(Clock(440)) == Clock(440 + 907));
}

TEST_CASE("A worker that was faster than estimated is believed") {
  ActionTimer timer({});
  CHECK(timer.begin_round(Clock(0)) == Clock(39));
  const Clock horizon = timer.begin_round(Clock(12));
  CHECK(timer.rate() < 11);
  CHECK(horizon == Clock(12 + poisson_quantile(2 * 12, 3.719016)));
}

TEST_CASE("Clocks go on from phase to phase, and to the end") {
  ActionTimer timer({}, Clock(1000));
  CHECK(timer.begin_round(Clock(1000)) == Clock(1039));
  constexpr Clock kLast(std::numeric_limits<std::int64_t>::max());
  ActionTimer at_the_end({}, kLast);
  CHECK(at_the_end.begin_round(kLast) == kLast);
}

TEST_CASE("Settings of action timing have ranges") {
  CHECK_NOTHROW(ActionTimer({.smoothing = 1, .quantile = 0.5, .initial_rate = 0}));
  CHECK_THROWS_AS(ActionTimer({.smoothing = 1.1}), lapse::UsageError);
  CHECK_THROWS_AS(ActionTimer({.smoothing = std::nan("")}), lapse::UsageError);
  CHECK_THROWS_AS(ActionTimer({.quantile = 1}), lapse::UsageError);
  CHECK_THROWS_AS(ActionTimer({.initial_rate = -1}), lapse::UsageError);
  CHECK_THROWS_AS(ActionTimer({.initial_rate = INFINITY}), lapse::UsageError);
}
