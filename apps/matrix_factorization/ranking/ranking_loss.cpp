#include "apps/matrix_factorization/ranking/ranking_loss.hpp"

#include <algorithm>
#include <cmath>

namespace lapse::apps {

PairLoss bpr_loss(float margin) {
  // Neither exponential overflows.
  const float small = std::exp(-std::abs(margin));
  const float loss = std::max(-margin, 0.0F) + std::log1p(small);
  return {loss, margin >= 0 ? small / (1 + small) : 1 / (1 + small)};
}

PairLoss warp_loss(float margin, std::uint64_t negatives, std::uint64_t draws) {
  const std::uint64_t rank = std::max<std::uint64_t>(1, negatives / draws);
  const float weight = std::log(static_cast<float>(rank));
  return {weight * (1 - margin), weight};
}

void PairSteps::step(float* __restrict user, float* __restrict positive, float* __restrict negative,
                     float weight, const SgdSteps& steps) const {
  const std::size_t rank = model_.rank();
  const float move = steps.learning_rate * weight;
  const float decay = steps.learning_rate * steps.l2_factors;
  for (std::size_t k = 0; k < rank; ++k) {
    const float p = user[k];
    const float q = positive[k];
    const float n = negative[k];
    user[k] = p + (move * (q - n) - decay * p);
    positive[k] = q + (move * p - decay * q);
    negative[k] = n - (move * p + decay * n);
  }
  if (!model_.has_biases()) return;
  const float bias_decay = steps.learning_rate * steps.l2_biases;
  positive[rank] += move - bias_decay * positive[rank];
  negative[rank] -= move + bias_decay * negative[rank];
}

void PairSteps::add_gradients(const float* __restrict user, const float* __restrict positive,
                              const float* __restrict negative, float* __restrict user_gradient,
                              float* __restrict positive_gradient, float* __restrict negative_gradient,
                              float weight, const SgdSteps& steps) const {
  const std::size_t rank = model_.rank();
  const float l2 = steps.l2_factors;
  for (std::size_t k = 0; k < rank; ++k) {
    user_gradient[k] += l2 * user[k] - weight * (positive[k] - negative[k]);
    positive_gradient[k] += l2 * positive[k] - weight * user[k];
    negative_gradient[k] += l2 * negative[k] + weight * user[k];
  }
  if (!model_.has_biases()) return;
  positive_gradient[rank] += steps.l2_biases * positive[rank] - weight;
  negative_gradient[rank] += steps.l2_biases * negative[rank] + weight;
}

}  // namespace lapse::apps
