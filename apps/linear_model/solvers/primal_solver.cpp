#include "apps/linear_model/solvers/primal_solver.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

namespace {

// The component of the smallest subgradient, where `smooth` is the gradient without the penalty's L1 norm.
double subgradient(double smooth, double weight, double l1) {
  if (weight != 0) return smooth + std::copysign(l1, weight);
  return std::max(std::abs(smooth) - l1, 0.0);
}

}  // namespace

ModelMeasures PrimalSolver::measure(Worker& worker) {
  if (!has_counted_) count_holders(worker);
  pull_values(worker, tables().weights, samples().keys(), weights_);
  ModelMeasures measures;
  std::vector<double> change(weights_.size());
  with_loss(problem().loss, [&]<class L>(L) { pass<L>(measures, change); });
  for (std::size_t j = 0; j < change.size(); ++j) {
    const double share = change[j] / static_cast<double>(problem().samples);
    change[j] = share - pushed_[j];
    pushed_[j] = share;
  }
  worker.push(tables().gradient, samples().keys(), change);
  worker.sync_barrier();
  pull_values(worker, tables().gradient, samples().keys(), gradient_);
  measure_share(worker, measures);
  reduce(worker, measures);
  return measures;
}

void PrimalSolver::count_holders(Worker& worker) {
  pushed_.assign(samples().keys().size(), 1);
  worker.push(tables().gradient, samples().keys(), pushed_);
  worker.sync_barrier();
  pull_values(worker, tables().gradient, samples().keys(), holders_);
  worker.barrier();  // before another worker takes its number back
  has_counted_ = true;
}

template <class L>
void PrimalSolver::pass(ModelMeasures& measures, std::vector<double>& sum) {
  slopes_.resize(samples().size());
  for (std::size_t i = 0; i < samples().size(); ++i) {
    const double label = samples().label(i);
    const auto features = samples().features(i);
    const double z = label * dot(features, weights_.data());
    measures.loss += L::value(z);
    measures.correct += z > 0 ? 1 : 0;
    slopes_[i] = label * L::slope(z);
    if (slopes_[i] != 0) add(slopes_[i], features, sum.data());
  }
}

void PrimalSolver::measure_share(Worker& worker, ModelMeasures& measures) const {
  const double scale = problem().cost * static_cast<double>(problem().samples);
  const Penalty& penalty = problem().penalty;
  std::vector<double> weights;
  std::vector<double> gradient;
  for_share(worker, problem().keys, [&](std::span<const Key> keys) {
    pull_values(worker, tables().weights, keys, weights);
    pull_values(worker, tables().gradient, keys, gradient);
    for (std::size_t j = 0; j < keys.size(); ++j) {
      measures.l1_norm += std::abs(weights[j]);
      measures.squared_norm += weights[j] * weights[j];
      const double component =
          subgradient(scale * gradient[j] + penalty.l2 * weights[j], weights[j], penalty.l1);
      measures.squared_gradient += component * component;
    }
  });
}

void PrimalSolver::push_average(Worker& worker, std::vector<double>& weights) {
  for (std::size_t j = 0; j < weights.size(); ++j) weights[j] = (weights[j] - weights_[j]) / holders_[j];
  worker.push(tables().weights, samples().keys(), weights);
  worker.sync_barrier();
}

}  // namespace lapse::apps
