#include "apps/topic_model/likelihood.hpp"

#include <math.h>  // lgamma_r

#include <cstddef>
#include <numeric>

namespace lapse::apps {

namespace {

constexpr std::size_t kSmall = 4096;

// std::lgamma writes to a global variable.
double log_gamma(double x) {
  int sign = 0;
  return lgamma_r(x, &sign);
}

}  // namespace

LogRising::LogRising(double prior) : prior_(prior), log_gamma_(log_gamma(prior)), small_(kSmall) {
  for (std::size_t n = 1; n < kSmall; ++n) small_[n] = log_gamma(prior + static_cast<double>(n)) - log_gamma_;
}

double LogRising::operator()(std::int64_t n) const {
  if (n < static_cast<std::int64_t>(kSmall)) return n <= 0 ? 0 : small_[static_cast<std::size_t>(n)];
  return log_gamma(prior_ + static_cast<double>(n)) - log_gamma_;
}

TopicLikelihood::TopicLikelihood(const TopicPriors& priors)
    : priors_(priors), alpha_(priors.alpha), beta_(priors.beta) {}

double TopicLikelihood::document(std::span<const std::int32_t> topics) const {
  const double all_alpha = priors_.alpha * static_cast<double>(priors_.topics);
  const auto tokens = std::accumulate(topics.begin(), topics.end(), std::int64_t{0});
  double sum = log_gamma(all_alpha) - log_gamma(all_alpha + static_cast<double>(tokens));
  for (const std::int32_t count : topics) sum += alpha_(count);
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
