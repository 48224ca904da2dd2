// Estimates the priors of a topic model from the topics of its tokens.
#pragma once

#include "apps/topic_model/prior_counts.hpp"
#include "apps/topic_model/topic_priors.hpp"

namespace lapse::apps {

// Estimates stay between these: the best prior of a topic without tokens would be 0, and that of topics that
// all documents have in equal shares infinite.
inline constexpr double kMinEstimatedPrior = 1e-6;
inline constexpr double kMaxEstimatedPrior = 1e6;

// The priors that make the counts likely, found from `priors` by the fixed-point iteration of Minka
// (Estimating a Dirichlet distribution, 2000, section 3), where psi is the digamma function and A the sum of
// all alpha_k:
//   alpha_k <- alpha_k sum_d (psi(n_dk + alpha_k) - psi(alpha_k)) / sum_d (psi(n_d + A) - psi(A))
//   beta    <- beta sum_wk (psi(n_wk + beta) - psi(beta)) / (W sum_k (psi(n_k + W beta) - psi(W beta)))
// No step lowers the likelihood. Ends when a step changes A and beta by less than one in 10^5, or after 200
// steps. The result depends on the counts alone, bit for bit.
TopicPriors optimized_priors(const TopicPriors& priors, const PriorCounts& counts);

}  // namespace lapse::apps
