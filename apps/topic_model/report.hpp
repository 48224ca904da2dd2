// Reports of a training to its user.
#pragma once

#include <string>

#include "apps/common/summary.hpp"
#include "apps/topic_model/trainer.hpp"

namespace lapse::apps {

// One line each.
std::string describe(const TopicTrainer& trainer);
std::string describe(const TopicEpoch& record, std::uint64_t tokens);

// Likelihood, times and communication of the training, results of its management, and all counters.
void add_training(Summary& summary, const TopicTrainer& trainer, adapm::Technique technique,
                  const adapm::Statistics& statistics);

}  // namespace lapse::apps
