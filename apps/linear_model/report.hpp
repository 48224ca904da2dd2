// Reports of a training to its user.
#pragma once

#include <string>

#include "apps/common/summary.hpp"
#include "apps/linear_model/prediction.hpp"
#include "apps/linear_model/trainer.hpp"

namespace lapse::apps {

// One line each.
std::string describe(const LinearTrainer& trainer);
std::string describe(const LinearEpoch& record, const LinearTrainer& trainer);

// Objective, qualities, times and communication of the training, results of its management, and all counters.
void add_training(Summary& summary, const LinearTrainer& trainer, adapm::Technique technique,
                  const adapm::Statistics& statistics);

void add_prediction(Summary& summary, const PredictionResult& result);

}  // namespace lapse::apps
