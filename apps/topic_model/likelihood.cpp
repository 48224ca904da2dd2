#include "apps/topic_model/likelihood.hpp"

#include <math.h>  // NOLINT(modernize-deprecated-headers): lgamma_r

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace lapse::apps {

namespace {

// std::lgamma writes to a global variable.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

}  // namespace

LogRising::LogRising(double prior, std::size_t small)
    : prior_(prior), log_gamma_(log_gamma(prior)), small_(small) {
  for (std::size_t n = 1; n < small; ++n) small_[n] = log_gamma(prior + static_cast<double>(n)) - log_gamma_;
}

double LogRising::operator()(std::int64_t n) const {
  if (n <= 0) return 0;
  if (n < static_cast<std::int64_t>(small_.size())) return small_[static_cast<std::size_t>(n)];
  return log_gamma(prior_ + static_cast<double>(n)) - log_gamma_;
}

TopicLikelihood::TopicLikelihood(const TopicPriors& priors)
    : priors_(priors), all_alpha_(priors.all_alpha()), beta_(priors.beta) {
  if (std::ranges::adjacent_find(priors.alpha, std::ranges::not_equal_to()) == priors.alpha.end()) {
    alpha_.emplace_back(priors.alpha.front());
    return;
  }
  // Tables of all topics would take long.
  for (const double alpha : priors.alpha) alpha_.emplace_back(alpha, 0);
}

double TopicLikelihood::document(std::span<const std::int32_t> topics) const {
  const auto tokens = std::accumulate(topics.begin(), topics.end(), std::int64_t{0});
  double sum = log_gamma(all_alpha_) - log_gamma(all_alpha_ + static_cast<double>(tokens));
  const bool one = alpha_.size() == 1;
  for (std::size_t topic = 0; topic < topics.size(); ++topic) sum += alpha_[one ? 0 : topic](topics[topic]);
  return sum;
}

double TopicLikelihood::word(std::span<const std::int32_t> topics) const {
  double sum = 0;
  for (const std::int32_t count : topics) sum += beta_(count);
  return sum;
}

double TopicLikelihood::totals(std::span<const std::int64_t> topics) const {
  const double all_beta = priors_.beta * static_cast<double>(priors_.words);
  const double empty = log_gamma(all_beta);
  double sum = 0;
  for (const std::int64_t count : topics) sum += empty - log_gamma(all_beta + static_cast<double>(count));
  return sum;
}

}  // namespace lapse::apps
