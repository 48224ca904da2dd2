// What the training of a linear model minimizes.
#pragma once

#include <cstdint>

#include "apps/linear_model/loss.hpp"
#include "apps/linear_model/penalty.hpp"

namespace lapse::apps {

// F(w) = R(w) + cost * (sum over samples of loss(y x . w)), as liblinear has it. Solvers that draw samples
// minimize the mean f = F / (cost * samples).
struct LinearProblem {
  Loss loss = Loss::logistic;
  double cost = 1;
  Penalty penalty = {};
  std::uint64_t samples = 0;
  std::uint64_t entries = 0;        // of all samples: features that are not 0
  std::uint64_t keys = 0;           // of the tables
  double largest_squared_norm = 0;  // of a sample

  // Weights of the mean's penalty.
  double mean_l1() const { return penalty.l1 / (cost * static_cast<double>(samples)); }
  double mean_l2() const { return penalty.l2 / (cost * static_cast<double>(samples)); }
  // The largest curvature of a sample's loss, along its features.
  double largest_curvature() const {
    return with_loss(loss, [&]<class L>(L) { return L::kCurvature * largest_squared_norm; });
  }
};

// Sums over all samples and features, at some weights w.
struct ModelMeasures {
  double loss = 0;
  double correct = 0;  // samples with a positive margin
  double l1_norm = 0;
  double squared_norm = 0;
  double squared_gradient = 0;  // |gradient of F|^2, where the solver has it
  // Of a solver with dual variables: dual(a_i) and the dual penalty, see Loss and Penalty.
  double duals = 0;
  double dual_penalty = 0;

  double objective(const LinearProblem& problem) const {
    return problem.penalty.value(l1_norm, squared_norm) + problem.cost * loss;
  }
};

}  // namespace lapse::apps
