#include "apps/linear_model/solvers/saga_solver.hpp"

namespace lapse::apps {

void SagaSolver::run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) {
  RandomEngine random(options().seed + kGoldenGamma * (epoch + 1), worker.index());
  w_ = weights();
  mean_ = gradient();
  of_sample_ = slopes();
  const double step_size = options().step_scale / (3 * (problem().largest_curvature() + problem().mean_l2()));
  const ProximalSteps proximal(step_size, problem().mean_l1(), problem().mean_l2(), samples().size());
  with_loss(problem().loss, [&]<class L>(L) {
    for (double left = passes_of(options(), epoch); left > 0; --left) pass<L>(proximal, random);
  });
  push_average(worker, w_);
}

template <class L>
void SagaSolver::pass(const ProximalSteps& proximal, RandomEngine& random) {
  const auto count = static_cast<double>(samples().size());
  made_.assign(w_.size(), 0);
  step_ = 0;
  for (const std::uint32_t i : shuffled(samples().size(), random)) {
    const auto features = samples().features(i);
    const double label = samples().label(i);
    double z = 0;
    for (const io::FeatureValue& entry : features) {
      w_[entry.feature] = current(proximal, entry.feature);
      z += label * static_cast<double>(entry.value) * w_[entry.feature];
    }
    const double slope = label * L::slope(z);
    const double change = slope - of_sample_[i];
    of_sample_[i] = slope;
    ++step_;
    for (const io::FeatureValue& entry : features) {
      const double of_feature = change * static_cast<double>(entry.value);
      w_[entry.feature] = proximal.one(w_[entry.feature], mean_[entry.feature] + of_feature);
      mean_[entry.feature] += of_feature / count;
      made_[entry.feature] = step_;
    }
  }
  for (std::size_t j = 0; j < w_.size(); ++j) w_[j] = current(proximal, j);
}

}  // namespace lapse::apps
