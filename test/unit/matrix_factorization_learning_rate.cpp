// The learning rate over the epochs.
#include "apps/matrix_factorization/learning_rate.hpp"

#include "test/support/catch.hpp"

using lapse::apps::LearningRate;
using Kind = lapse::apps::LearningRateOptions::Kind;

TEST_CASE("a decaying learning rate falls with the number of epochs") {
  LearningRate rate({.kind = Kind::decay, .initial = 0.3, .decay = 0.5});
  CHECK(rate.current() == 0.3);
  rate.epoch_finished(1);
  CHECK(rate.current() == Approx(0.2));
  rate.epoch_finished(2);
  CHECK(rate.current() == Approx(0.15));
}

TEST_CASE("the bold driver speeds up after an improvement and brakes after none") {
  LearningRate rate({.kind = Kind::bold_driver, .initial = 0.1, .decay = 9});
  rate.epoch_finished(1.0);
  CHECK(rate.current() == Approx(0.105));
  rate.epoch_finished(0.9);
  CHECK(rate.current() == Approx(0.11025));
  rate.epoch_finished(0.9);
  CHECK(rate.current() == Approx(0.055125));
  rate.epoch_finished(0.8);
  CHECK(rate.current() == Approx(0.05788125));
}
