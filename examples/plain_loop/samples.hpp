// The training data of all steps: samples with four of 1000 features, labelled with the sum of the features'
// true weights.
#pragma once

#include <vector>

#include "lapse/core/random.hpp"

constexpr std::size_t kFeatures = 1000;

struct Sample {
  std::vector<lapse::Key> features;
  float label = 0;
};

inline float true_weight(lapse::Key feature) {
  return feature.value() % 2 == 0 ? 1.0F : -1.0F;
}

inline std::vector<Sample> draw_samples(std::size_t count) {
  lapse::RandomEngine random(42);
  std::vector<Sample> samples(count);
  for (Sample& sample : samples) {
    for (int i = 0; i < 4; ++i) sample.features.emplace_back(random.below(kFeatures));
    for (const lapse::Key feature : sample.features) sample.label += true_weight(feature);
  }
  return samples;
}
