// The wide stage of the solvers that step on weights.
#pragma once

#include <vector>

#include "apps/linear_model/solvers/linear_solver.hpp"

namespace lapse::apps {

// The table of gradients has the mean of all samples' gradients (without the penalty) at the weights of the
// last wide stage.
class PrimalSolver : public LinearSolver {
 public:
  using LinearSolver::LinearSolver;

  ModelMeasures measure(Worker& worker) override;

 protected:
  // At the last wide stage, for the features of this worker's samples: the weights and the gradient.
  const std::vector<double>& weights() const { return weights_; }
  const std::vector<double>& gradient() const { return gradient_; }
  // The slope of a sample's loss times its label: the gradient of its loss is slope(i) x_i.
  const std::vector<double>& slopes() const { return slopes_; }

  // Pushes the changes of this worker's weights since the last wide stage, averaged over the workers that
  // have the feature. Waits for all workers.
  void push_average(Worker& worker, std::vector<double>& weights);

 private:
  void count_holders(Worker& worker);
  template <class L>
  void pass(ModelMeasures& measures, std::vector<double>& sum);
  void measure_share(Worker& worker, ModelMeasures& measures) const;

  std::vector<double> weights_;
  std::vector<double> gradient_;
  std::vector<double> pushed_;   // this worker's share of the gradient in the table
  std::vector<double> holders_;  // by feature: the workers with samples that have it
  bool has_counted_ = false;     // these
  std::vector<double> slopes_;
};

}  // namespace lapse::apps
