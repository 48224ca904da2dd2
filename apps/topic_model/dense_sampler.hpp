// Draws topics of tokens by collapsed Gibbs sampling, over all topics at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/topic_model/topic_priors.hpp"
#include "apps/topic_model/word_tokens.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

// How often each topic occurs in each of a worker's documents; a document's counts are padded with zeros.
class DocumentTopics {
 public:
  static constexpr std::size_t kPadding = 16;
  static constexpr std::size_t padded(std::size_t topics) {
    return (topics + kPadding - 1) / kPadding * kPadding;
  }

  DocumentTopics(std::size_t documents, std::size_t topics)
      : stride_(padded(topics)), counts_(documents * stride_) {}

  std::int32_t* document(std::size_t document) { return counts_.data() + document * stride_; }
  const std::int32_t* document(std::size_t document) const { return counts_.data() + document * stride_; }
  // Its counts will be read soon.
  void prefetch(std::size_t document) const {
    const std::int32_t* const counts = this->document(document);
    for (std::size_t i = 0; i < stride_; i += kPadding) __builtin_prefetch(counts + i, 1);
  }

 private:
  std::size_t stride_;
  std::vector<std::int32_t> counts_;
};

// The sampler of Griffiths and Steyvers (2004), word by word: topic k of a token has the weight
// (n_wk + beta) / (n_k + W beta) * (n_dk + alpha), where the counts are those of all other tokens. The first
// factor is kept for the current word; it changes for two topics a token. Takes time in proportion to the
// topics, in loops that the compiler vectorises.
//
// Thread safety: none.
class DenseSampler {
 public:
  explicit DenseSampler(const TopicPriors& priors);

  // How often each topic occurs in all documents, as known from now on.
  void set_totals(std::span<const std::int64_t> totals);
  // What the drawn topics have changed in the totals since then.
  std::span<const std::int64_t> total_changes() const { return changes_; }

  // The next tokens are of the word with these counts of topics, which the caller keeps.
  void begin_word(std::span<std::int32_t> counts);
  // Draws a topic for a token of the word, whose document has these counts. Changes all counts.
  void resample(WordTokens::Token& token, std::int32_t* document, RandomEngine& random);

 private:
  void set_inverse(std::size_t topic);
  void set_factor(std::size_t topic);

  const std::size_t topics_;
  const float alpha_;
  const float beta_;
  const double all_beta_;              // W beta
  std::vector<std::int64_t> totals_;   // n_k
  std::vector<std::int64_t> changes_;  // since set_totals
  std::vector<float> inverse_;         // 1 / (n_k + W beta)
  std::span<std::int32_t> word_;       // n_wk
  std::vector<float> factors_;         // (n_wk + beta) / (n_k + W beta); padded with zeros
  std::vector<float> weights_;         // of the current token
  std::vector<float> sums_;            // of weights, by block of kPadding
};

}  // namespace lapse::apps
