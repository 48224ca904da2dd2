// Samples that a linear model separates in part, and a check of its optimum.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/common/table_reader.hpp"
#include "apps/common/worker_parts.hpp"
#include "apps/linear_model/trainer.hpp"
#include "lapse/core/random.hpp"

namespace lapse::test {

inline constexpr std::uint64_t kSamples = 240;
inline constexpr std::uint64_t kFeatures = 30;

// A sample has some features; a hidden model, and noise, give its label.
inline io::SparseSamples samples_of(const io::DocumentPart& part) {
  io::SparseSamples samples;
  for (std::uint64_t number = 0; number < kSamples; ++number) {
    RandomEngine random(7, number);
    std::vector<io::FeatureValue> features;
    double sum = 0;
    for (std::uint32_t j = 0; j < kFeatures; ++j) {
      if (random.below(4) != 0 && j + 1 != kFeatures) continue;
      const double value = random.uniform() + 0.2;
      features.push_back({j, static_cast<float>(value)});
      sum += value * std::sin(static_cast<double>(j));
    }
    samples.add(sum + random.uniform() - 0.5 > 0 ? 5 : 2, features, part.has(number));
  }
  return samples;
}

inline apps::TrainingSamples training_samples(const io::DocumentPart& part, double bias = 0) {
  return {.samples = samples_of(part),
          .first_feature = io::FirstFeature::one,
          .form = {.positive = 5, .features = kFeatures, .bias = bias},
          .classes = {.positive = 5, .negative = 2}};
}
// This rank's part of them.
inline apps::TrainingSamples part_of_samples(const adapm::ParameterManager& manager,
                                             const apps::LinearTrainingOptions& options, double bias = 0) {
  return training_samples(apps::part_of_rank(options.workers, manager.rank(), manager.ranks()), bias);
}

// An objective computed from the weights, in another way than the solvers do, and the gradient of its smooth
// part where the loss has one.
struct Objective {
  double value = 0;
  std::vector<double> weights;
  std::vector<double> gradient;

  // The most by which the optimum may be smaller; of a smooth loss and an L2 penalty: F is strongly convex.
  double bound() const {
    double squares = 0;
    for (const double component : gradient) squares += component * component;
    return squares / 2;
  }
};

inline Objective objective_at(const std::vector<double>& weights, const apps::LinearProblem& problem,
                              double bias = 0) {
  const std::vector<std::size_t> all = [] {
    std::vector<std::size_t> indices(kSamples);
    for (std::size_t i = 0; i < kSamples; ++i) indices[i] = i;
    return indices;
  }();
  const apps::TrainingSamples data = training_samples({}, bias);
  Objective result{.value = 0, .weights = weights, .gradient = std::vector<double>(weights.size())};
  for (std::size_t j = 0; j < weights.size(); ++j) {
    result.value += problem.penalty.value(std::abs(weights[j]), weights[j] * weights[j]);
    result.gradient[j] = problem.penalty.l2 * weights[j];
  }
  apps::with_loss(problem.loss, [&]<class L>(L) {
    for (const std::size_t i : all) {
      const double label = data.samples.label(i) == data.form.positive ? 1 : -1;
      double product = bias != 0 ? bias * weights.back() : 0;
      for (const io::FeatureValue& entry : data.samples.features(i))
        product += static_cast<double>(entry.value) * weights[entry.feature];
      result.value += problem.cost * L::value(label * product);
      const double slope = problem.cost * label * L::slope(label * product);
      for (const io::FeatureValue& entry : data.samples.features(i))
        result.gradient[entry.feature] += slope * static_cast<double>(entry.value);
      if (bias != 0) result.gradient.back() += slope * bias;
    }
  });
  return result;
}

// Collective. The weights of the trainer's tables, on every rank.
inline std::vector<double> weights_of(adapm::ParameterManager& manager, const apps::LinearTrainer& trainer) {
  std::vector<double> weights;
  manager.server().run_workers(1, [&](Worker& worker) {
    apps::read_keys(
        worker, trainer.tables().weights, 0, trainer.problem().keys,
        [&](std::span<const double> values) { weights.insert(weights.end(), values.begin(), values.end()); });
  });
  if (trainer.dual_penalty() != nullptr)
    for (double& weight : weights) weight = trainer.dual_penalty()->weight(weight);
  return weights;
}

}  // namespace lapse::test
