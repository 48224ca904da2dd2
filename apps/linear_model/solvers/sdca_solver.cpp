#include "apps/linear_model/solvers/sdca_solver.hpp"

#include <algorithm>
#include <cmath>

#include "lapse/io/loading/shuffle.hpp"

namespace lapse::apps {

std::vector<double>& SdcaSolver::duals() {
  duals_.resize(samples().size());
  return duals_;
}

double SdcaSolver::product(std::size_t sample) const {
  const auto features = samples().features(sample);
  const Penalty& penalty = problem().penalty;
  if (penalty.l1 == 0) return dot(features, v_.data()) / penalty.l2;
  double sum = 0;
  for (const io::FeatureValue& entry : features)
    sum += static_cast<double>(entry.value) * penalty.weight(v_[entry.feature]);
  return sum;
}

ModelMeasures SdcaSolver::measure(Worker& worker) {
  pull_values(worker, tables().weights, samples().keys(), v_);
  ModelMeasures measures;
  with_loss(problem().loss, [&]<class L>(L) {
    for (std::size_t i = 0; i < samples().size(); ++i) {
      const double z = samples().label(i) * product(i);
      measures.loss += L::value(z);
      measures.correct += z > 0 ? 1 : 0;
      measures.duals += L::dual(duals()[i], problem().cost);
    }
  });
  std::vector<double> v;
  for_share(worker, problem().keys, [&](std::span<const Key> keys) {
    pull_values(worker, tables().weights, keys, v);
    for (const double value : v) {
      const double weight = problem().penalty.weight(value);
      measures.l1_norm += std::abs(weight);
      measures.squared_norm += weight * weight;
      measures.dual_penalty += problem().penalty.dual(value);
    }
  });
  reduce(worker, measures);
  return measures;
}

void SdcaSolver::run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) {
  RandomEngine random(options().seed + kGoldenGamma * (epoch + 1), worker.index());
  const std::size_t count = rounds(worker.count());
  before_ = v_;
  with_loss(problem().loss, [&]<class L>(L) {
    // Later passes leave out samples whose last step changed nothing, such as those far from the margin.
    std::vector<std::uint32_t> order = shuffled(samples().size(), random);
    for (double left = passes_of(options(), epoch); left > 0; --left) {
      std::vector<std::uint32_t> changed;
      for (std::size_t round = 0; round < count; ++round) {
        const std::size_t begin = order.size() * round / count;
        const std::size_t end = order.size() * (round + 1) / count;
        run_round<L>(std::span(order).subspan(begin, end - begin), static_cast<double>(worker.count()),
                     changed);
        if (worker.count() != 1) exchange(worker);
      }
      io::shuffle(std::span(changed), random);
      order.swap(changed);
    }
  });
  if (worker.count() == 1) exchange(worker);
}

// As many as let the exchange of v take a small part of the time.
std::size_t SdcaSolver::rounds(std::size_t workers) const {
  constexpr std::uint64_t kEntriesPerKey = 4;
  constexpr std::uint64_t kMaxRounds = 32;
  if (workers == 1) return 1;
  return std::clamp<std::uint64_t>(problem().entries / (workers * kEntriesPerKey * problem().keys), 1,
                                   kMaxRounds);
}

template <class L>
void SdcaSolver::run_round(std::span<const std::uint32_t> order, double workers,
                           std::vector<std::uint32_t>& changed) {
  for (const std::uint32_t i : order) {
    const double q = workers * samples().squared_norm(i) / problem().penalty.l2;
    const double label = samples().label(i);
    const double before = duals_[i];
    duals_[i] = L::best_dual(before, label * product(i), q, problem().cost);
    const double change = workers * (duals_[i] - before) * label;
    if (change == 0) continue;
    add(change, samples().features(i), v_.data());
    changed.push_back(i);
  }
}

void SdcaSolver::exchange(Worker& worker) {
  const auto workers = static_cast<double>(worker.count());
  for (std::size_t j = 0; j < v_.size(); ++j) v_[j] = (v_[j] - before_[j]) / workers;
  worker.push(tables().weights, samples().keys(), v_);
  worker.sync_barrier();
  pull_values(worker, tables().weights, samples().keys(), v_);
  before_ = v_;
  worker.barrier();  // before another worker pushes changes of the next round
}

}  // namespace lapse::apps
