// Lists the topics of a trained model.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "apps/topic_model/top_words.hpp"
#include "apps/topic_model/trainer.hpp"

namespace lapse::apps {

// Collective. The topics with `words` words each, and their coherence by the first `coherence_words` words
// (0: none), on rank 0; an empty list on other ranks.
std::vector<TopicWords> list_topics(ParameterServer& server, TopicTrainer& trainer, std::size_t words,
                                    std::size_t coherence_words);

// The mean of the topics that have one.
std::optional<double> mean_coherence(const std::vector<TopicWords>& topics);

}  // namespace lapse::apps
