#include "apps/knowledge_graph_embeddings/triple_loss.hpp"

#include <algorithm>
#include <cmath>

#include "lapse/store/kernels.hpp"

namespace lapse::apps {

namespace {

std::span<const float> value_of(const EmbeddingRow& row, std::size_t length) {
  return {row.value, length};
}

std::span<float> gradient_of(const EmbeddingRow& row, std::size_t length) {
  return {row.gradient, length};
}

}  // namespace

double TripleLoss::add_gradients(const TripleSample& sample) {
  const double loss =
      add_side(Side::object, sample.subject, sample.relation, &sample.object, sample.other_objects) +
      add_side(Side::subject, sample.object, sample.relation, nullptr, sample.other_subjects);
  if (l2_ != 0) {
    regularize(sample.subject, model_.entity_length());
    regularize(sample.relation, model_.relation_length());
    regularize(sample.object, model_.entity_length());
  }
  return loss;
}

double TripleLoss::add_side(Side missing, const EmbeddingRow& known, const EmbeddingRow& relation,
                            const EmbeddingRow* truth, std::span<const EmbeddingRow> others) {
  if (truth == nullptr && others.empty()) return 0;
  const auto known_value = value_of(known, model_.entity_length());
  const auto relation_value = value_of(relation, model_.relation_length());
  model_.query(missing, known_value, relation_value, query_);
  std::fill(query_gradient_.begin(), query_gradient_.end(), 0.0F);
  double loss = 0;
  if (truth != nullptr) loss += add_candidate(*truth, true);
  for (const EmbeddingRow& other : others) loss += add_candidate(other, false);
  model_.add_query_gradient(missing, known_value, relation_value, query_gradient_,
                            gradient_of(known, model_.entity_length()),
                            gradient_of(relation, model_.relation_length()));
  return loss;
}

// The loss log(1 + exp(x)) of x = -f or f has the slope 1 / (1 + exp(-x)) in x. Written with exp of a number
// that is not positive, neither overflows.
double TripleLoss::add_candidate(const EmbeddingRow& candidate, bool is_true) {
  const auto value = value_of(candidate, model_.entity_length());
  const float score = model_.score(query_, value);
  const float x = is_true ? -score : score;
  const float small = std::exp(-std::abs(x));
  const float slope = (x > 0 ? 1.0F : small) / (1 + small);
  model_.add_score_gradient(query_, value, is_true ? -slope : slope, query_gradient_,
                            gradient_of(candidate, model_.entity_length()));
  return double{std::max(x, 0.0F)} + double{std::log1p(small)};
}

void TripleLoss::regularize(const EmbeddingRow& row, std::size_t length) const {
  axpy(l2_, value_of(row, length), gradient_of(row, length));
}

}  // namespace lapse::apps
