// Stochastic average gradient with proximal steps.
#pragma once

#include <vector>

#include "apps/linear_model/proximal_steps.hpp"
#include "apps/linear_model/solvers/primal_solver.hpp"

namespace lapse::apps {

// SAGA (Defazio, Bach and Lacoste-Julien, NIPS 2014): as SVRG, but each step also replaces the sample's
// gradient in the mean of all. So the mean changes in the sample's features only, and steps of the others can
// be made when they are needed (ProximalSteps). For one worker. A wide stage renews the gradients of all
// samples.
class SagaSolver final : public PrimalSolver {
 public:
  using PrimalSolver::PrimalSolver;

  void run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) override;

 private:
  template <class L>
  void pass(const ProximalSteps& proximal, RandomEngine& random);
  // The weight before the next step.
  double current(const ProximalSteps& proximal, std::size_t feature) const {
    return proximal.many(w_[feature], mean_[feature], step_ - made_[feature]);
  }

  std::vector<double> w_;
  std::vector<double> mean_;       // of the samples' gradients
  std::vector<double> of_sample_;  // slope
  std::vector<std::size_t> made_;  // by feature: the steps in w_
  std::size_t step_ = 0;           // in the pass
};

}  // namespace lapse::apps
