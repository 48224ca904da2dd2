#include "apps/topic_model/document_mixture.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "lapse/core/random.hpp"

namespace lapse::apps {

namespace {
constexpr int kMaxPasses = 100;
constexpr double kMinChange = 1e-3;  // of a token
}  // namespace

DocumentMixture::DocumentMixture(std::span<const double> alpha)
    : alpha_(alpha.begin(), alpha.end()),
      all_alpha_(std::accumulate(alpha.begin(), alpha.end(), 0.0)),
      expected_(alpha.size()),
      next_expected_(alpha.size()),
      weights_(alpha.size()),
      theta_(alpha.size()) {}

std::span<const double> DocumentMixture::infer(std::span<const io::WordCount> words,
                                               std::span<const float* const> of_topics) {
  double tokens = 0;
  for (const io::WordCount& word : words) tokens += word.count;
  std::ranges::fill(expected_, 0.0F);
  shares_.assign(words.size() * alpha_.size(), 0.0F);
  for (int i = 0; i < kMaxPasses; ++i)
    if (pass(words, of_topics) < kMinChange * tokens) break;
  for (std::size_t topic = 0; topic < theta_.size(); ++topic)
    theta_[topic] =
        (static_cast<double>(expected_[topic]) + static_cast<double>(alpha_[topic])) / (tokens + all_alpha_);
  return theta_;
}

double DocumentMixture::pass(std::span<const io::WordCount> words, std::span<const float* const> of_topics) {
  const std::size_t topics = alpha_.size();
  const float* __restrict const alpha = alpha_.data();
  const float* __restrict const expected = expected_.data();
  float* __restrict const next = next_expected_.data();
  float* __restrict const weights = weights_.data();
  std::ranges::fill(next_expected_, 0.0F);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const float* __restrict const of_topic = of_topics[i];
    float* __restrict const shares = shares_.data() + i * topics;
    constexpr std::size_t kLanes = 8;
    float lanes[kLanes] = {};
    std::size_t topic = 0;
    for (; topic + kLanes <= topics; topic += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t k = topic + lane;
        // Rounding may make others a little less than 0.
        const float others = std::max(expected[k] - shares[k], 0.0F);
        weights[k] = of_topic[k] * (others + alpha[k]);
        lanes[lane] += weights[k];
      }
    }
    for (; topic < topics; ++topic) {
      weights[topic] = of_topic[topic] * (std::max(expected[topic] - shares[topic], 0.0F) + alpha[topic]);
      lanes[0] += weights[topic];
    }
    const float scale = 1 / std::accumulate(lanes, lanes + kLanes, 0.0F);
    const auto count = static_cast<float>(words[i].count);
    for (std::size_t k = 0; k < topics; ++k) {
      shares[k] = weights[k] * scale;
      next[k] += count * shares[k];
    }
  }
  double change = 0;
  for (std::size_t k = 0; k < topics; ++k) change += std::abs(static_cast<double>(next[k] - expected[k]));
  expected_.swap(next_expected_);
  return change;
}

HalvedDocument halve(std::span<const io::WordCount> words, std::uint64_t seed, std::uint64_t number) {
  RandomEngine random(seed, number);
  std::uint64_t left = 0;
  for (const io::WordCount& word : words) left += word.count;
  std::uint64_t left_of_first = (left + 1) / 2;
  HalvedDocument halves;
  for (const io::WordCount& word : words) {
    std::uint32_t first = 0;
    for (std::uint32_t i = 0; i < word.count; ++i, --left) {
      if (random.below(left) >= left_of_first) continue;
      ++first;
      --left_of_first;
    }
    if (first != 0) halves.first.push_back({word.word, first});
    if (first != word.count) halves.second.push_back({word.word, word.count - first});
  }
  return halves;
}

}  // namespace lapse::apps
