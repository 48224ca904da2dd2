// How well topics explain words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/topic_model/topic_priors.hpp"

namespace lapse::apps {

// ln(Gamma(n + prior) / Gamma(prior)), from a table for n below `small`. Thread safety: constant.
class LogRising {
 public:
  static constexpr std::size_t kSmall = 4096;

  explicit LogRising(double prior, std::size_t small = kSmall);
  double operator()(std::int64_t n) const;

 private:
  double prior_;
  double log_gamma_;  // of the prior
  std::vector<double> small_;
};

// The joint likelihood of words and topics, ln p(w, z), as a sum of independent parts: equations 2 and 3 of
// Griffiths and Steyvers (2004). Thread safety: constant.
class TopicLikelihood {
 public:
  explicit TopicLikelihood(const TopicPriors& priors);

  // Of a document, by the counts of its topics.
  double document(std::span<const std::int32_t> topics) const;
  // Of a word, by the counts of its topics.
  double word(std::span<const std::int32_t> topics) const;
  // Of all topics, by their counts in all documents.
  double totals(std::span<const std::int64_t> topics) const;

 private:
  TopicPriors priors_;
  double all_alpha_;
  std::vector<LogRising> alpha_;  // by topic; one if all topics have the same prior
  LogRising beta_;
};

}  // namespace lapse::apps
