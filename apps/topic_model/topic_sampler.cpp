#include "apps/topic_model/topic_sampler.hpp"

#include <algorithm>

#include "apps/topic_model/dense_sampler.hpp"
#include "apps/topic_model/tree_sampler.hpp"

namespace lapse::apps {

namespace {
// From here on, a document has few of all topics, after some epochs.
constexpr std::size_t kManyTopics = 300;
}  // namespace

TopicSampler::TopicSampler(const TopicPriors& priors)
    : totals_(priors.topics()),
      changes_(priors.topics()),
      inverse_(priors.topics()),
      factors_(priors.topics()) {
  set_priors(priors);
}

void TopicSampler::set_priors(const TopicPriors& priors) {
  priors_ = priors;
  alpha_.assign(priors.alpha.begin(), priors.alpha.end());
  beta_ = static_cast<float>(priors.beta);
  all_beta_ = static_cast<double>(priors.words) * priors.beta;
}

void TopicSampler::set_totals(std::span<const std::int64_t> totals) {
  std::ranges::copy(totals, totals_.begin());
  std::ranges::fill(changes_, 0);
  for (std::size_t topic = 0; topic < totals_.size(); ++topic) set_inverse(topic);
}

// Counts of other workers may be old, so that one may fall below zero for a while.
void TopicSampler::set_inverse(std::size_t topic) {
  const auto total = static_cast<double>(std::max<std::int64_t>(totals_[topic], 0));
  inverse_[topic] = static_cast<float>(1 / (total + all_beta_));
}

void TopicSampler::set_factor(std::size_t topic) {
  factors_[topic] = (static_cast<float>(std::max(word_[topic], 0)) + beta_) * inverse_[topic];
}

void TopicSampler::begin_word(std::span<std::int32_t> counts) {
  word_ = counts;
  for (std::size_t topic = 0; topic < factors_.size(); ++topic) set_factor(topic);
}

void TopicSampler::change(std::size_t topic, std::int32_t by) {
  word_[topic] += by;
  totals_[topic] += by;
  changes_[topic] += by;
  set_inverse(topic);
  set_factor(topic);
}

std::unique_ptr<TopicSampler> make_topic_sampler(const TopicPriors& priors) {
  if (priors.topics() < kManyTopics) return std::make_unique<DenseSampler>(priors);
  return std::make_unique<TreeSampler>(priors);
}

std::size_t topic_sampler_bytes(const io::BagOfWords& bag, const TopicPriors& priors) {
  if (priors.topics() < kManyTopics) return bag.documents() * DenseSampler::document_bytes(priors);
  std::size_t bytes = 0;
  for (std::size_t document = 0; document < bag.documents(); ++document)
    bytes += TreeSampler::document_bytes(priors, bag.lengths()[bag.number(document)]);
  return bytes;
}

}  // namespace lapse::apps
