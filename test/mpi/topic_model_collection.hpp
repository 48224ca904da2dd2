// A collection of documents whose topics a topic model finds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/topic_model/trainer.hpp"
#include "apps/topic_model/worker_documents.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/documents/bag_of_words.hpp"

namespace lapse::test {

inline constexpr std::uint64_t kDocuments = 90;
inline constexpr std::uint64_t kTokens = 40;     // of a document
inline constexpr std::size_t kTopics = 3;        // each document is about one of them
inline constexpr std::uint64_t kTopicWords = 8;  // words of a topic; no two topics share one

inline apps::TopicTrainingOptions small_training(std::vector<std::int32_t> workers = {1}) {
  apps::TopicTrainingOptions options;
  options.workers = std::move(workers);
  options.topics = 4 * kTopics;  // with as many as there are, two of them may stay together
  options.alpha = 0.1;
  options.beta = 0.1;
  options.epochs = 30;
  options.evaluate_every = 10;
  options.worker.batch = 4;
  options.worker.lookahead = 3;
  return options;
}

inline io::BagOfWords documents_of(const io::DocumentPart& part) {
  io::BagOfWords bag(kTopics * kTopicWords);
  for (std::uint64_t document = 0; document < kDocuments; ++document) {
    RandomEngine random(5, document);
    std::vector<io::WordCount> words;
    for (std::uint64_t i = 0; i < kTokens; ++i)
      words.push_back(
          {static_cast<io::Vocabulary::Id>(document % kTopics * kTopicWords + random.below(kTopicWords)), 1});
    bag.add(words, part.has(document));
  }
  return bag;
}

inline io::BagOfWords all_documents() {
  return documents_of(io::DocumentPart{});
}

// This rank's part of the collection.
inline io::BagOfWords part_of_documents(const adapm::ParameterManager& manager,
                                        const apps::TopicTrainingOptions& options) {
  return documents_of(apps::part_of_rank(options.workers, manager.rank(), manager.ranks()));
}

}  // namespace lapse::test
