#include "apps/topic_model/dense_sampler.hpp"

#include <algorithm>

namespace lapse::apps {

namespace {
constexpr std::size_t kBlock = DocumentTopics::kPadding;
}

DenseSampler::DenseSampler(const TopicPriors& priors)
    : topics_(priors.topics),
      alpha_(static_cast<float>(priors.alpha)),
      beta_(static_cast<float>(priors.beta)),
      all_beta_(static_cast<double>(priors.words) * priors.beta),
      totals_(topics_),
      changes_(topics_),
      inverse_(topics_),
      factors_(DocumentTopics::padded(topics_)),
      weights_(factors_.size()),
      sums_(factors_.size() / kBlock) {}

void DenseSampler::set_totals(std::span<const std::int64_t> totals) {
  std::ranges::copy(totals, totals_.begin());
  std::ranges::fill(changes_, 0);
  for (std::size_t topic = 0; topic < topics_; ++topic) set_inverse(topic);
}

// Counts of other workers may be old, so that one may fall below zero for a while.
void DenseSampler::set_inverse(std::size_t topic) {
  const auto total = static_cast<double>(std::max<std::int64_t>(totals_[topic], 0));
  inverse_[topic] = static_cast<float>(1 / (total + all_beta_));
}

void DenseSampler::begin_word(std::span<std::int32_t> counts) {
  word_ = counts;
  for (std::size_t topic = 0; topic < topics_; ++topic)
    factors_[topic] = (static_cast<float>(std::max(word_[topic], 0)) + beta_) * inverse_[topic];
}

void DenseSampler::set_factor(std::size_t topic) {
  set_inverse(topic);
  factors_[topic] = (static_cast<float>(std::max(word_[topic], 0)) + beta_) * inverse_[topic];
}

void DenseSampler::resample(WordTokens::Token& token, std::int32_t* document, RandomEngine& random) {
  const std::size_t before = token.topic;
  --document[before];
  --word_[before];
  --totals_[before];
  --changes_[before];
  set_factor(before);

  const float* __restrict const factors = factors_.data();
  float* __restrict const weights = weights_.data();
  float* __restrict const sums = sums_.data();
  const std::size_t blocks = sums_.size();
  const float alpha = alpha_;
  float all = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t first = block * kBlock;
    float lanes[4] = {};
    for (std::size_t i = 0; i < kBlock; i += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        const std::size_t topic = first + i + lane;
        const float weight = factors[topic] * (static_cast<float>(document[topic]) + alpha);
        weights[topic] = weight;
        lanes[lane] += weight;
      }
    }
    sums[block] = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    all += sums[block];
  }

  float left = static_cast<float>(random.uniform()) * all;
  std::size_t block = 0;
  for (; block + 1 < blocks && left >= sums[block]; ++block) left -= sums[block];
  // Sums are rounded: what is left may exceed the last weights.
  std::size_t topic = block * kBlock;
  const std::size_t last = std::min(topic + kBlock, topics_) - 1;
  for (; topic < last && left >= weights[topic]; ++topic) left -= weights[topic];

  token.topic = static_cast<TopicId>(topic);
  ++document[topic];
  ++word_[topic];
  ++totals_[topic];
  ++changes_[topic];
  set_factor(topic);
}

}  // namespace lapse::apps
