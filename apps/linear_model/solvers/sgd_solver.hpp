// Stochastic gradient descent in batches of all workers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/linear_model/lazy_scale.hpp"
#include "apps/linear_model/solvers/primal_solver.hpp"

namespace lapse::apps {

// In every step, each worker draws its share of a batch, pulls the weights of these samples' features, and
// pushes the change: a step costs what the samples' features cost. Workers see each other's steps when the
// table's consistency policy demands it; a step is a clock. The step size falls with the number t of steps:
// h / (1 + h l t), where l is the weight of the mean's penalty and 1 / h the largest curvature of a sample
// (Bottou, Large-Scale Machine Learning with Stochastic Gradient Descent, COMPSTAT 2010). The batch may grow
// from epoch to epoch, up to a tenth of the samples.
class SgdSolver final : public PrimalSolver {
 public:
  using PrimalSolver::PrimalSolver;

  void run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) override;

 private:
  // Of all workers.
  std::uint64_t batch(std::uint64_t epoch) const;
  std::uint64_t steps(std::uint64_t epoch) const;
  double step_size(std::uint64_t step) const;
  // Pulls the values of these samples' features, and pushes what the step changes.
  template <class L>
  void step(Worker& worker, std::span<const std::uint32_t> of_worker, double factor, double size,
            LazyScale& lazy);
  // Collective.
  void fold(Worker& worker, LazyScale& lazy) const;

  std::vector<Key> keys_;
  std::vector<double> values_;
};

}  // namespace lapse::apps
