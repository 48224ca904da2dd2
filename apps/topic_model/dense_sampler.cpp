#include "apps/topic_model/dense_sampler.hpp"

#include <algorithm>

namespace lapse::apps {

DenseSampler::DenseSampler(const TopicPriors& priors)
    : TopicSampler(priors),
      stride_((priors.topics() + kBlock - 1) / kBlock * kBlock),
      weights_(stride_),
      sums_(stride_ / kBlock) {}

void DenseSampler::count_documents(const WordTokens& tokens) {
  documents_.assign(tokens.documents() * stride_, 0);
  for (const WordTokens::Token& token : tokens.all()) ++document(token.document)[token.topic];
}

void DenseSampler::prefetch(std::size_t document) const {
  const std::int32_t* const counts = documents_.data() + document * stride_;
  for (std::size_t i = 0; i < stride_; i += kBlock) __builtin_prefetch(counts + i, 1);
}

void DenseSampler::resample(std::span<WordTokens::Token> tokens, std::span<std::int32_t> counts,
                            RandomEngine& random) {
  begin_word(counts);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i + kTokensAhead < tokens.size()) prefetch(tokens[i + kTokensAhead].document);
    WordTokens::Token& token = tokens[i];
    std::int32_t* const of_document = document(token.document);
    --of_document[token.topic];
    remove(token.topic);
    token.topic = static_cast<TopicId>(draw(of_document, random));
    ++of_document[token.topic];
    add(token.topic);
  }
}

std::size_t DenseSampler::draw(const std::int32_t* document, RandomEngine& random) {
  const float* __restrict const factors = this->factors().data();
  float* __restrict const weights = weights_.data();
  const std::size_t topics = priors().topics();
  const std::size_t blocks = sums_.size();
  const float* __restrict const alpha = this->alpha().data();
  float all = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * kBlock;
    float lanes[4] = {};
    if (first + kBlock <= topics) {
      for (std::size_t i = 0; i < kBlock; i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
          const std::size_t topic = first + i + lane;
          const float weight = factors[topic] * (static_cast<float>(document[topic]) + alpha[topic]);
          weights[topic] = weight;
          lanes[lane] += weight;
        }
      }
    } else {
      for (std::size_t topic = first; topic < topics; ++topic) {
        weights[topic] = factors[topic] * (static_cast<float>(document[topic]) + alpha[topic]);
        lanes[0] += weights[topic];
      }
    }
    sums_[block] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    all += sums_[block];
  }

  float left = static_cast<float>(random.uniform()) * all;
  std::size_t block = 0;
  for (; block + 1 < blocks && left >= sums_[block]; ++block) left -= sums_[block];
  // Sums are rounded: what is left may exceed the last weights.
  std::size_t topic = block * kBlock;
  const std::size_t last = std::min(topic + kBlock, topics) - 1;
  for (; topic < last && left >= weights[topic]; ++topic) left -= weights[topic];
  return topic;
}

}  // namespace lapse::apps
