// Draws topics of tokens by collapsed Gibbs sampling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "apps/topic_model/topic_priors.hpp"
#include "apps/topic_model/word_tokens.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// The sampler of Griffiths and Steyvers (2004), word by word: topic k of a token has the weight
// (n_wk + beta) / (n_k + W beta) * (n_dk + alpha_k), where the counts are those of all other tokens. The
// first factor is kept for the current word; it changes for two topics a token. The counts n_dk of a worker's
// documents are the sampler's.
//
// Thread safety: none.
class TopicSampler {
 public:
  explicit TopicSampler(const TopicPriors& priors);
  virtual ~TopicSampler() = default;
  TopicSampler(const TopicSampler&) = delete;
  TopicSampler& operator=(const TopicSampler&) = delete;

  // Replaces the priors, which must have the same numbers of topics and words. Call set_totals before the
  // next draws.
  void set_priors(const TopicPriors& priors);

  // Takes the counts of documents from the topics of their tokens.
  virtual void count_documents(const WordTokens& tokens) = 0;

  // How often each topic occurs in all documents, as known from now on.
  void set_totals(std::span<const std::int64_t> totals);
  // What the drawn topics have changed in the totals since then.
  std::span<const std::int64_t> total_changes() const { return changes_; }

  // Draws a topic for each token of a word, which has these counts of topics. Changes all counts.
  virtual void resample(std::span<WordTokens::Token> tokens, std::span<std::int32_t> counts,
                        RandomEngine& random) = 0;

 protected:
  // Documents of a word's next tokens are far apart in memory: they are fetched this many tokens ahead.
  static constexpr std::size_t kTokensAhead = 3;

  const TopicPriors& priors() const { return priors_; }
  // (n_wk + beta) / (n_k + W beta) of the current word, by topic.
  const std::vector<float>& factors() const { return factors_; }
  // By topic.
  const std::vector<float>& alpha() const { return alpha_; }
  void begin_word(std::span<std::int32_t> counts);
  // A token of the word has the topic no longer, or has it now.
  void remove(std::size_t topic) { change(topic, -1); }
  void add(std::size_t topic) { change(topic, 1); }

 private:
  void change(std::size_t topic, std::int32_t by);
  void set_inverse(std::size_t topic);
  void set_factor(std::size_t topic);

  TopicPriors priors_;
  std::vector<float> alpha_;
  float beta_ = 0;
  double all_beta_ = 0;                // W beta
  std::vector<std::int64_t> totals_;   // n_k
  std::vector<std::int64_t> changes_;  // since set_totals
  std::vector<float> inverse_;         // 1 / (n_k + W beta)
  std::span<std::int32_t> word_;       // n_wk
  std::vector<float> factors_;
};

// The sampler that is the faster one for this number of topics.
std::unique_ptr<TopicSampler> make_topic_sampler(const TopicPriors& priors);
// Memory of its counts of these documents.
std::size_t topic_sampler_bytes(const io::BagOfWords& bag, const TopicPriors& priors);

}  // namespace lapse::apps
