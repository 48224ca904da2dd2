#include "apps/linear_model/solvers/svrg_solver.hpp"

#include <cmath>

namespace lapse::apps {

std::size_t SvrgSolver::steps(std::uint64_t epoch) const {
  return static_cast<std::size_t>(
      std::ceil(passes_of(options(), epoch) * static_cast<double>(samples().size())));
}

void SvrgSolver::run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) {
  RandomEngine random(options().seed + kGoldenGamma * (epoch + 1), worker.index());
  y_ = weights();
  products_.resize(samples().size());
  for (std::size_t i = 0; i < products_.size(); ++i)
    products_[i] = dot(samples().features(i), gradient().data());
  with_loss(problem().loss, [&]<class L>(L) { run<L>(steps(epoch), random); });
  push_average(worker, y_);
}

template <class L>
void SvrgSolver::run(std::size_t count, RandomEngine& random) {
  // Of 1 / L, a third: for 1, twice as many passes or more are needed, or none suffices.
  const double step_size = options().step_scale / (3 * (problem().largest_curvature() + problem().mean_l2()));
  LazyScale lazy(problem().mean_l2());
  while (count > 0) {
    for (const std::uint32_t i : shuffled(samples().size(), random)) {
      const auto features = samples().features(i);
      const double label = samples().label(i);
      const double z = label * (lazy.scale() * dot(features, y_.data()) - lazy.shift() * products_[i]);
      const double change = label * L::slope(z) - slopes()[i];
      lazy.advance(step_size);
      if (change != 0) add(lazy.change(-step_size * change), features, y_.data());
      if (lazy.must_fold()) fold(lazy);
      if (--count == 0) break;
    }
  }
  fold(lazy);
}

void SvrgSolver::fold(LazyScale& lazy) {
  for (std::size_t j = 0; j < y_.size(); ++j) y_[j] = lazy.scale() * y_[j] - lazy.shift() * gradient()[j];
  lazy.restart();
}

}  // namespace lapse::apps
