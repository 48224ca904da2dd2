// Reports of a training to its user.
#pragma once

#include <string>

#include "apps/common/summary.hpp"
#include "apps/word_vectors/evaluation.hpp"
#include "apps/word_vectors/trainer.hpp"

namespace lapse::apps {

// One line each.
std::string describe(const Corpus& corpus, std::uint64_t min_count);
std::string describe(const EpochRecord& record);
// Progress within an epoch, after `seconds` seconds.
std::string describe(std::uint64_t epoch, const EpochProgress& progress, const Corpus& corpus,
                     double seconds);

// Times and communication of the training, results of its management, and all counters.
void add_training(Summary& summary, const Trainer& trainer, adapm::Technique technique,
                  const adapm::Statistics& statistics);
// Accuracy of analogies in total, by kind and by section, and the correlation of similarities.
void add_evaluation(Summary& summary, const Evaluation& evaluation);

}  // namespace lapse::apps
