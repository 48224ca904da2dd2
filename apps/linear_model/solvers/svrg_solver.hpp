// Stochastic variance reduced gradient.
#pragma once

#include <vector>

#include "apps/linear_model/lazy_scale.hpp"
#include "apps/linear_model/solvers/primal_solver.hpp"

namespace lapse::apps {

// SVRG (Johnson and Zhang, Accelerating Stochastic Gradient Descent using Predictive Variance Reduction, NIPS
// 2013): each step takes the gradient of one sample, less that at the weights of the last wide stage, plus
// the mean of these over all samples. Where workers step on weights of their own, it is that of Konecny et
// al., Federated Optimization, 2016, algorithm 4, without its diagonal scaling of samples.
//
// Loopless (Kovalev, Horvath and Richtarik, ALT 2020): the number of steps of an epoch is geometrically
// distributed.
class SvrgSolver final : public PrimalSolver {
 public:
  using PrimalSolver::PrimalSolver;

  void run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) override;

 private:
  // Of this worker.
  std::size_t steps(std::uint64_t epoch) const;
  template <class L>
  void run(std::size_t count, RandomEngine& random);
  void fold(LazyScale& lazy);

  std::vector<double> y_;         // LazyScale
  std::vector<double> products_;  // of each sample and the gradient
};

}  // namespace lapse::apps
