// Reports of a training to its user.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/common/summary.hpp"
#include "apps/topic_model/top_words.hpp"
#include "apps/topic_model/trainer.hpp"

namespace lapse::apps {

// One line each.
std::string describe(const TopicTrainer& trainer);
std::string describe(const TopicEpoch& record, std::uint64_t tokens);

// The coherence of topics: the mean in the table, each in the JSON.
void add_coherence(Summary& summary, const std::vector<TopicWords>& topics, std::size_t words);

// Likelihood, times and communication of the training, results of its management, and all counters.
void add_training(Summary& summary, const TopicTrainer& trainer, adapm::Technique technique,
                  const adapm::Statistics& statistics);

}  // namespace lapse::apps
