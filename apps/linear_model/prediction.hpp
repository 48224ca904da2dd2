// Predicts the labels of samples.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/linear_model/model_file.hpp"
#include "apps/linear_model/test_samples.hpp"

namespace lapse::apps {

struct PredictionOptions {
  std::string samples;  // file
  std::string output;   // file
  io::FirstFeature first_feature = io::FirstFeature::found;
};

struct PredictionResult {
  std::uint64_t samples = 0;
  // If all labels of the file are of the model.
  bool has_labels = false;
  PredictionQuality quality = {};
};

// Collective. Writes on rank 0 a line for each sample, in their order, with fields separated by tabs: the
// predicted label, x . w, and of a logistic model the probability of the positive label. `workers`: by rank.
// Throws FileError or PeerFailed on every rank.
PredictionResult write_predictions(ParameterServer& server, const LinearModel& model,
                                   const PredictionOptions& options,
                                   const std::vector<std::int32_t>& workers);

}  // namespace lapse::apps
