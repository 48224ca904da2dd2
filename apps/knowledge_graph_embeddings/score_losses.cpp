#include "apps/knowledge_graph_embeddings/score_losses.hpp"

#include <algorithm>
#include <cmath>

#include "apps/knowledge_graph_embeddings/exponentials.hpp"

namespace lapse::apps {

// The loss log(1 + exp(x)) of x = -f or f has the slope 1 / (1 + exp(-x)) in x. Computed with exp of numbers
// of at most 0, neither overflows.
double logistic_loss(float& score, bool is_true) {
  const float x = is_true ? -score : score;
  const float small = std::exp(-std::abs(x));
  const float slope = (x > 0 ? 1.0F : small) / (1 + small);
  score = is_true ? -slope : slope;
  return double{std::max(x, 0.0F)} + double{std::log1p(small)};
}

double softmax_loss(float& truth, std::span<float> negatives) {
  const float max = std::max(truth, largest(negatives));
  const float others = exponentiate(negatives, max);
  const float own = std::exp(truth - max);
  const float sum = own + others;
  const double loss = std::log(double{sum}) + (double{max} - double{truth});
  const float share = 1 / sum;
  for (float& negative : negatives) negative *= share;
  truth = -others * share;
  return loss;
}

}  // namespace lapse::apps
