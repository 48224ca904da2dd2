#include "apps/linear_model/solvers/sgd_solver.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

std::uint64_t SgdSolver::batch(std::uint64_t epoch) const {
  const double most = std::max(1.0, static_cast<double>(problem().samples) / 10);
  const auto first = static_cast<double>(options().batch);
  if (first >= most) return options().batch;
  const double grown = first * std::pow(options().batch_growth, static_cast<double>(epoch));
  return static_cast<std::uint64_t>(std::min(grown, most));
}

std::uint64_t SgdSolver::steps(std::uint64_t epoch) const {
  return (problem().samples + batch(epoch) - 1) / batch(epoch);
}

double SgdSolver::step_size(std::uint64_t step) const {
  // The hinge has no curvature; its slope changes by 1.
  const double curvature = std::max(problem().largest_curvature(),
                                    is_smooth(problem().loss) ? 0.0 : problem().largest_squared_norm);
  const double first = options().step_scale / (curvature + problem().mean_l2());
  return first / (1 + first * problem().mean_l2() * static_cast<double>(step));
}

void SgdSolver::run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) {
  RandomEngine random(options().seed + kGoldenGamma * (epoch + 1), worker.index());
  const std::uint64_t count = steps(epoch);
  if (worker.ranks() > 1) {
    const Clock now = worker.current_clock();
    worker.intent(tables().weights, samples().keys(), now,
                  Clock(now.value() + static_cast<std::int64_t>(count)));
  }
  std::uint64_t number = 0;  // of the step, over all epochs
  for (std::uint64_t before = 0; before < epoch; ++before) number += steps(before);
  // This worker's share of every batch.
  const std::uint64_t of_all = batch(epoch);
  const std::size_t own = samples().size() == 0 ? 0
                                                : of_all * (worker.index() + 1) / worker.count() -
                                                      of_all * worker.index() / worker.count();
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> drawn;
  LazyScale lazy(problem().mean_l2());
  with_loss(problem().loss, [&]<class L>(L) {
    for (const std::uint64_t end = number + count; number < end; ++number) {
      drawn.clear();
      while (drawn.size() < own) {
        if (order.empty()) order = shuffled(samples().size(), random);
        drawn.push_back(order.back());
        order.pop_back();
      }
      step<L>(worker, drawn, 1 / static_cast<double>(of_all), step_size(number), lazy);
      worker.advance_clock();
      if (lazy.must_fold()) fold(worker, lazy);
    }
  });
  fold(worker, lazy);
}

template <class L>
void SgdSolver::step(Worker& worker, std::span<const std::uint32_t> of_worker, double factor, double size,
                     LazyScale& lazy) {
  keys_.clear();
  for (const std::uint32_t i : of_worker)
    for (const io::FeatureValue& entry : samples().features(i))
      keys_.push_back(samples().keys()[entry.feature]);
  pull_values(worker, tables().weights, keys_, values_);
  const double scale = lazy.scale();
  lazy.advance(size);
  double* value = values_.data();
  for (const std::uint32_t i : of_worker) {
    const auto features = samples().features(i);
    double product = 0;
    for (std::size_t j = 0; j < features.size(); ++j)
      product += static_cast<double>(features[j].value) * value[j];
    const double label = samples().label(i);
    const double change = lazy.change(-size * factor * label * L::slope(label * scale * product));
    for (const io::FeatureValue& entry : features) *value++ = change * static_cast<double>(entry.value);
  }
  worker.push(tables().weights, keys_, values_);
}

void SgdSolver::fold(Worker& worker, LazyScale& lazy) const {
  worker.sync_barrier();
  std::vector<double> values;
  for_share(worker, problem().keys, [&](std::span<const Key> keys) {
    pull_values(worker, tables().weights, keys, values);
    for (double& value : values) value *= lazy.scale() - 1;
    worker.push(tables().weights, keys, values);
  });
  worker.sync_barrier();
  lazy.restart();
}

}  // namespace lapse::apps
