// Samples the topics of one worker's documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "adapm/intent_worker.hpp"
#include "apps/topic_model/prior_counts.hpp"
#include "apps/topic_model/topic_sampler.hpp"
#include "apps/topic_model/topic_tables.hpp"
#include "apps/topic_model/word_tokens.hpp"

namespace lapse::apps {

struct TopicWorkerOptions {
  std::uint64_t seed = 1;
  std::size_t batch = 64;     // words whose counts are pulled together
  std::size_t lookahead = 8;  // batches that are announced, or localized, ahead
  bool localizes = false;     // in place of announcing
};

// The counts of documents stay with the worker; those of words and of all topics are in tables. A worker
// reads the counts of a batch of words, draws the topics of their tokens, and pushes the differences: each
// count of a word is read and pushed once in an epoch.
//
// Thread safety: one thread at a time.
class TopicWorker {
 public:
  TopicWorker(const io::BagOfWords& bag, std::span<const std::size_t> documents, const TopicPriors& priors,
              const TopicWorkerOptions& options);

  const WordTokens& tokens() const { return tokens_; }

  // Gives each token a random topic, which depends on seed, document and word only.
  void draw_first_topics();
  // Topics of a document's tokens, in the order of words.
  void topics_of_documents(
      const std::function<void(std::uint64_t number, std::span<const TopicId>)>& f) const;
  // Sets them: f fills in the topics of each document, all below the number of topics.
  void set_topics(const std::function<void(std::uint64_t number, std::span<TopicId>)>& f);
  // Counts all tokens in the tables, which must not have them yet.
  void push_counts(Worker& worker, const TopicTables& tables);

  // Replaces the priors, between epochs.
  void set_priors(const TopicPriors& priors);
  // What the priors are estimated from: counts of this worker's documents, and of every `count`-th word from
  // `index` on. Worker 0 adds the totals.
  PriorCounts prior_counts(Worker& worker, const TopicTables& tables) const;

  // Draws a new topic for every token. `epoch`: from 0.
  void run(adapm::IntentWorker& worker, const TopicTables& tables, std::uint64_t epoch);

  // Part of the joint likelihood of words and topics, of what prior_counts counts.
  double likelihood(Worker& worker, const TopicTables& tables) const;

 private:
  std::size_t batches() const;
  // The words of a batch, as indices in tokens_.words().
  std::pair<std::size_t, std::size_t> batch(std::size_t number) const;
  std::span<const Key> keys_of(std::size_t batch_number) const;
  // Calls f with the counts of topics of each document.
  void counts_of_documents(const std::function<void(std::span<const std::int32_t>)>& f) const;
  // Calls f with the counts of topics of every `count`-th word from `index` on, of one or more words at a
  // time.
  void counts_of_words(Worker& worker, const TopicTables& tables,
                       const std::function<void(std::span<const std::int32_t>)>& f) const;

  TopicPriors priors_;
  TopicWorkerOptions options_;
  WordTokens tokens_;
  std::unique_ptr<TopicSampler> sampler_;
  std::vector<Key> keys_;  // by word of tokens_
};

}  // namespace lapse::apps
