// Infers the topics of documents from the counts in the tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "apps/topic_model/document_mixture.hpp"
#include "apps/topic_model/topic_priors.hpp"
#include "apps/topic_model/topic_tables.hpp"
#include "lapse/io/documents/bag_of_words.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse::apps {

// Takes p(w | k) = (n_wk + beta) / (n_k + W beta) from the tables, which must not change meanwhile. The
// counts of words are pulled for many documents together. Not collective.
//
// Thread safety: one thread at a time.
class DocumentInference {
 public:
  // Reads the totals. The worker must outlive the object.
  DocumentInference(Worker& worker, const TopicTables& tables, const TopicPriors& priors);

  struct Document {
    std::span<const io::WordCount> given;   // the topics are inferred from these words
    std::span<const io::WordCount> scored;  // and these words are predicted by them
  };
  // Calls f(i, theta, likelihood) for each document i in turn: its mixture of topics, valid during the call,
  // and the sum of ln sum_k theta_k p(w | k) over the tokens that are scored.
  void run(std::span<const Document> documents,
           const std::function<void(std::size_t i, std::span<const double> theta, double likelihood)>& f);

 private:
  // Reads p(w | k) of all words of the documents.
  void read_words(std::span<const Document> documents);
  const float* of_topics(io::Vocabulary::Id word) const;
  double likelihood(std::span<const io::WordCount> words, std::span<const double> theta) const;

  Worker& worker_;
  TopicTables tables_;
  TopicPriors priors_;
  std::vector<double> inverse_;  // 1 / (n_k + W beta)
  DocumentMixture mixture_;
  std::vector<io::Vocabulary::Id> words_;  // that were read, in ascending order
  std::vector<float> of_topics_;           // a row of p(w | k) for each
};

}  // namespace lapse::apps
