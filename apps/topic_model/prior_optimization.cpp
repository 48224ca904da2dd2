#include "apps/topic_model/prior_optimization.hpp"

#include <algorithm>
#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <cstddef>
#include <vector>

namespace lapse::apps {

namespace {

constexpr int kMaxSteps = 200;
constexpr double kMinChange = 1e-5;

using Bins = std::vector<CountHistogram::Bin>;

// The sum of psi(n + prior) - psi(prior) over all counts n.
double rise(const Bins& bins, double prior) {
  const double at_prior = boost::math::digamma(prior);
  double sum = 0;
  for (const CountHistogram::Bin& bin : bins) {
    sum += static_cast<double>(bin.times) *
           (boost::math::digamma(static_cast<double>(bin.count) + prior) - at_prior);
  }
  return sum;
}

double limited(double prior) {
  return std::clamp(prior, kMinEstimatedPrior, kMaxEstimatedPrior);
}

void optimize_alpha(TopicPriors& priors, const PriorCounts& counts) {
  const Bins documents = counts.documents().bins();
  if (documents.empty()) return;
  std::vector<Bins> topics;
  for (std::size_t topic = 0; topic < priors.topics(); ++topic) topics.push_back(counts.topic(topic).bins());
  for (int step = 0; step < kMaxSteps; ++step) {
    const double all = priors.all_alpha();
    const double of_documents = rise(documents, all);
    double change = 0;
    for (std::size_t topic = 0; topic < topics.size(); ++topic) {
      double& alpha = priors.alpha[topic];
      const double next = limited(alpha * rise(topics[topic], alpha) / of_documents);
      change += std::abs(next - alpha);
      alpha = next;
    }
    if (change < kMinChange * all) return;
  }
}

void optimize_beta(TopicPriors& priors, const PriorCounts& counts) {
  const Bins words = counts.words().bins();
  const Bins totals = counts.totals().bins();
  if (totals.empty()) return;
  const auto all_words = static_cast<double>(priors.words);
  for (int step = 0; step < kMaxSteps; ++step) {
    const double beta = priors.beta;
    const double of_totals = all_words * rise(totals, all_words * beta);
    priors.beta = limited(beta * rise(words, beta) / of_totals);
    if (std::abs(priors.beta - beta) < kMinChange * beta) return;
  }
}

}  // namespace

TopicPriors optimized_priors(const TopicPriors& priors, const PriorCounts& counts) {
  TopicPriors optimized = priors;
  optimize_alpha(optimized, counts);
  optimize_beta(optimized, counts);
  return optimized;
}

}  // namespace lapse::apps
