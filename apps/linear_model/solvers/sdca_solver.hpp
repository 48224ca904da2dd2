// Stochastic dual coordinate ascent.
#pragma once

#include <vector>

#include "apps/linear_model/solvers/linear_solver.hpp"

namespace lapse::apps {

// SDCA (Shalev-Shwartz and Zhang, JMLR 2013; with an L1 norm: Accelerated Proximal SDCA, Mathematical
// Programming 2016): each step maximizes the dual in one sample's variable a. The table of weights has v =
// sum a_i y_i x_i, from which the weights follow (Penalty::weight); so a step adds to v, and costs what the
// sample's features cost. Several workers step on a v of their own, for a round of part of a pass. Each
// counts its changes of v as many times as there are workers (CoCoA+; Ma et al., Adding vs. Averaging in
// Distributed Primal-Dual Optimization, ICML 2015), so that the sum of all their changes does not go too far.
// So with more workers more passes are needed.
class SdcaSolver final : public LinearSolver {
 public:
  using LinearSolver::LinearSolver;

  ModelMeasures measure(Worker& worker) override;
  void run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) override;
  // The dual variables. If they are set, v must be set, too.
  std::span<double> sample_state() override { return duals(); }

 private:
  std::vector<double>& duals();
  // x . w
  double product(std::size_t sample) const;
  // In which a pass is divided.
  std::size_t rounds(std::size_t workers) const;
  template <class L>
  // Appends the samples that have changed.
  void run_round(std::span<const std::uint32_t> order, double workers, std::vector<std::uint32_t>& changed);
  void exchange(Worker& worker);

  std::vector<double> duals_;
  std::vector<double> v_;
  std::vector<double> before_;  // v at the begin of the round
};

}  // namespace lapse::apps
