#include "apps/knowledge_graph_embeddings/triple_loss.hpp"

#include <algorithm>

namespace lapse::apps {

double TripleLoss::add_gradients(const TripleSample& sample) {
  const bool reciprocal = sample.inverse_relation.value != nullptr;
  double loss = add_side(Side::object, sample.subject, sample.relation, &sample.object, sample.other_objects);
  if (reciprocal) {
    loss += add_side(Side::object, sample.object, sample.inverse_relation, &sample.subject,
                     sample.other_subjects);
  } else {
    // The first side has the triple's score: it counts once in a logistic loss.
    const EmbeddingRow* const truth = kind_ == LossKind::logistic ? nullptr : &sample.subject;
    loss += add_side(Side::subject, sample.object, sample.relation, truth, sample.other_subjects);
  }
  if (regularizer_.is_active()) regularizer_.add_gradients(sample.subject, sample.relation, sample.object);
  if (regularizer_.is_active() && reciprocal)
    regularizer_.add_gradients(sample.object, sample.inverse_relation, sample.subject);
  return loss;
}

double TripleLoss::add_side(Side missing, const EmbeddingRow& known, const EmbeddingRow& relation,
                            const EmbeddingRow* truth, std::span<const EmbeddingRow> others) {
  if (truth == nullptr && others.empty()) return 0;
  const RandomEngine dropped = queries_.make(missing, known, relation, query_);
  const std::size_t length = model_.entity_length();
  const auto for_each_candidate = [&](const auto& f) {
    float* score = scores_.data();
    if (truth != nullptr) f(*truth, *score++);
    for (const EmbeddingRow& other : others) f(other, *score++);
  };
  scores_.resize(others.size() + (truth != nullptr ? 1 : 0));
  for_each_candidate(
      [&](const EmbeddingRow& row, float& score) { score = model_.score(query_, row.values(length)); });
  const double loss = loss_of_scores(truth != nullptr);
  std::fill(query_gradient_.begin(), query_gradient_.end(), 0.0F);
  for_each_candidate([&](const EmbeddingRow& row, float slope) {
    model_.add_score_gradient(query_, row.values(length), slope, query_gradient_, row.gradients(length));
  });
  queries_.add_gradient(dropped, missing, known, relation, query_gradient_);
  return loss;
}

double TripleLoss::loss_of_scores(bool first_is_true) {
  if (kind_ == LossKind::softmax) return softmax_loss(scores_.front(), std::span(scores_).subspan(1));
  double loss = 0;
  for (float& score : scores_) loss += logistic_loss(score, first_is_true && &score == scores_.data());
  return loss;
}

}  // namespace lapse::apps
