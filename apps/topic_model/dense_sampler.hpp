// Draws topics by a loop over all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/topic_model/topic_sampler.hpp"

namespace lapse::apps {

// Takes time in proportion to the number of topics, in loops that the compiler vectorises. Thread safety:
// none.
class DenseSampler final : public TopicSampler {
 public:
  explicit DenseSampler(const TopicPriors& priors);

  static std::size_t document_bytes(const TopicPriors& priors) {
    return (priors.topics() + kBlock) * sizeof(std::int32_t);
  }

  void count_documents(const WordTokens& tokens) override;
  void resample(std::span<WordTokens::Token> tokens, std::span<std::int32_t> counts,
                RandomEngine& random) override;

 private:
  static constexpr std::size_t kBlock = 16;  // topics whose weights are summed together

  std::int32_t* document(std::size_t number) { return documents_.data() + number * stride_; }
  void prefetch(std::size_t document) const;
  std::size_t draw(const std::int32_t* document, RandomEngine& random);

  const std::size_t stride_;             // topics, padded to whole blocks
  std::vector<std::int32_t> documents_;  // n_dk, a row for each document, padded with zeros
  std::vector<float> weights_;           // of the current token, of whole blocks
  std::vector<float> sums_;              // of weights, by block
};

}  // namespace lapse::apps
