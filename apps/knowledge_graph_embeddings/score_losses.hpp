// Losses of scores, and their slopes.
#pragma once

#include <cstdint>
#include <span>

namespace lapse::apps {

enum class LossKind : std::uint8_t {
  logistic,  // log(1 + exp(-score)) of a true triple, log(1 + exp(score)) of a negative
  softmax    // -log of the share of exp(score) of the true triple in those of it and its negatives
};

// Returns the logistic loss of a score and replaces it by the slope of the loss.
double logistic_loss(float& score, bool is_true);

// Returns the softmax loss of a query, with t the score of its answer and n those of its negatives,
//
//   log(exp(t) + sum exp(n)) - t
//
// and replaces the scores by the slopes of the loss. A negative with the score -infinity is ignored.
double softmax_loss(float& truth, std::span<float> negatives);

}  // namespace lapse::apps
