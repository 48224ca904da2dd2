// Lazy steps are the dense ones.
#include <cmath>
#include <cstddef>
#include <vector>

#include "apps/linear_model/lazy_scale.hpp"
#include "apps/linear_model/proximal_steps.hpp"
#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using lapse::RandomEngine;
using lapse::apps::LazyScale;
using lapse::apps::ProximalSteps;

namespace {

constexpr std::size_t kFeatures = 7;

struct Steps {
  double regularization;
  double step_size;
  std::size_t count;
  std::size_t folds_every;  // 0: only if it must
};

// Makes random sparse steps, dense and lazily, and compares the weights.
void check_equal(const Steps& steps) {
  CAPTURE(steps.regularization, steps.step_size, steps.folds_every);
  RandomEngine random(11);
  std::vector<double> dense(kFeatures);
  std::vector<double> anchor(kFeatures);
  for (std::size_t j = 0; j < kFeatures; ++j) {
    dense[j] = random.uniform() - 0.5;
    anchor[j] = random.uniform() - 0.5;
  }
  std::vector<double> y = dense;
  LazyScale lazy(steps.regularization);
  const auto weight = [&](std::size_t j) { return lazy.scale() * y[j] - lazy.shift() * anchor[j]; };
  const auto fold = [&] {
    for (std::size_t j = 0; j < kFeatures; ++j) y[j] = weight(j);
    lazy.restart();
  };
  std::size_t folds = 0;
  for (std::size_t step = 1; step <= steps.count; ++step) {
    const double size = steps.step_size * (1 + random.uniform());
    std::vector<double> sparse(kFeatures);
    for (int i = 0; i < 2; ++i) sparse[random.below(kFeatures)] = random.uniform() - 0.5;
    for (std::size_t j = 0; j < kFeatures; ++j)
      dense[j] -= size * (steps.regularization * dense[j] + anchor[j] + sparse[j]);
    lazy.advance(size);
    for (std::size_t j = 0; j < kFeatures; ++j)
      if (sparse[j] != 0) y[j] += lazy.change(-size * sparse[j]);
    for (std::size_t j = 0; j < kFeatures; ++j)
      REQUIRE(std::abs(weight(j) - dense[j]) <= 1e-12 * (1 + std::abs(dense[j])));
    if (lazy.must_fold() || (steps.folds_every != 0 && step % steps.folds_every == 0)) {
      fold();
      ++folds;
      for (std::size_t j = 0; j < kFeatures; ++j) REQUIRE(y[j] == weight(j));
    }
  }
  // Strong regularization must have folded.
  if (steps.regularization * steps.step_size > 0.1) CHECK(folds > 0);
}

}  // namespace

TEST_CASE("lazy steps give the weights of dense steps") {
  for (const std::size_t folds_every : {0, 1, 17}) {
    for (const double regularization : {0.0, 1e-6, 0.01, 1.0, 4.0})
      check_equal({regularization, 0.1, 500, folds_every});
  }
}

TEST_CASE("changes of lazy steps may be added in any order") {
  // y after all steps is a sum: each step's part depends only on the step.
  LazyScale lazy(0.3);
  std::vector<double> changes;
  for (int step = 0; step < 20; ++step) {
    lazy.advance(0.1);
    changes.push_back(lazy.change(step * 0.01));
  }
  double forward = 0;
  double backward = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    forward += changes[i];
    backward += changes[changes.size() - 1 - i];
  }
  CHECK(forward == Approx(backward).epsilon(1e-14));
  double dense = 0;
  for (int step = 0; step < 20; ++step) dense = dense * (1 - 0.1 * 0.3) + step * 0.01;
  CHECK(lazy.scale() * forward == Approx(dense).epsilon(1e-12));
}

TEST_CASE("many proximal steps at once are as many single ones") {
  constexpr std::size_t kMax = 300;
  for (const double l1 : {0.0, 0.05, 0.4}) {
    for (const double l2 : {0.0, 0.01, 2.0}) {
      const ProximalSteps steps(0.1, l1, l2, kMax);
      for (const double start : {-0.7013, -0.0117, 0.0, 1e-9, 0.2137, 3.0}) {
        for (const double gradient : {-2.0, -0.4, -0.05, 0.0, 0.01, 0.3071}) {
          double w = start;
          for (std::size_t count = 0; count <= kMax; ++count) {
            CAPTURE(l1, l2, start, gradient, count);
            const double found = steps.many(start, gradient, count);
            REQUIRE(std::abs(found - w) <= 1e-12 * (1 + std::abs(w)));
            // Weights that are 0 are so exactly.
            if (w == 0 && count + 1 < kMax) REQUIRE(found == 0);
            w = steps.one(w, gradient);
          }
        }
      }
    }
  }
}
