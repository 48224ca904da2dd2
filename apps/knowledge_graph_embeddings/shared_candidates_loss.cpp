#include "apps/knowledge_graph_embeddings/shared_candidates_loss.hpp"

#include <algorithm>
#include <limits>

namespace lapse::apps {

namespace {

// 8 MB: a block of scores is used three times, and should stay in a cache.
constexpr std::size_t kMaxScores = std::size_t{1} << 21U;
constexpr std::size_t kMinQueries = 32;

}  // namespace

double SharedCandidatesLoss::add_gradients(std::span<const CandidateQuery> queries,
                                           const Candidates& candidates) {
  const std::size_t count = candidates.values.size() / model_.entity_length();
  const std::size_t block = std::max(kMinQueries, kMaxScores / std::max<std::size_t>(1, count));
  double loss = 0;
  while (!queries.empty()) {
    const auto next = queries.first(std::min(block, queries.size()));
    loss += add_block(next, candidates);
    queries = queries.subspan(next.size());
  }
  return loss;
}

double SharedCandidatesLoss::add_block(std::span<const CandidateQuery> queries,
                                       const Candidates& candidates) {
  const std::size_t length = model_.entity_length();
  const std::size_t count = candidates.values.size() / length;
  dropped_.clear();
  queries_.resize(queries.size() * length);
  query_gradients_.assign(queries_.size(), 0.0F);
  scores_.resize(queries.size() * count);
  const auto row = [&](std::vector<float>& matrix, std::size_t i) {
    return std::span(matrix).subspan(i * length, length);
  };
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const CandidateQuery& query = queries[i];
    dropped_.push_back(maker_.make(query.missing, query.known, query.relation, row(queries_, i)));
  }
  model_.score_matrix(queries_, candidates.values, scores_);
  double loss = 0;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const EmbeddingRow& answer = queries[i].answer;
    float slope = model_.score(row(queries_, i), answer.values(length));
    loss += loss_of_scores(queries[i], slope, std::span(scores_).subspan(i * count, count));
    model_.add_score_gradient(row(queries_, i), answer.values(length), slope, row(query_gradients_, i),
                              answer.gradients(length));
  }
  model_.add_score_matrix_gradients(queries_, candidates.values, scores_, query_gradients_,
                                    candidates.gradients);
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const CandidateQuery& query = queries[i];
    maker_.add_gradient(dropped_[i], query.missing, query.known, query.relation, row(query_gradients_, i));
    if (regularizer_.is_active() && query.missing == Side::object)
      regularizer_.add_gradients(query.known, query.relation, query.answer);
  }
  return loss;
}

double SharedCandidatesLoss::loss_of_scores(const CandidateQuery& query, float& truth,
                                            std::span<float> scores) const {
  if (query.answer_candidate) scores[*query.answer_candidate] = -std::numeric_limits<float>::infinity();
  if (kind_ == LossKind::softmax) return softmax_loss(truth, scores);
  double loss = 0;
  if (query.missing == Side::object) {
    loss = logistic_loss(truth, true);
  } else {
    truth = 0;  // The query for the object has the slope.
  }
  for (float& score : scores) loss += logistic_loss(score, false);
  return loss;
}

}  // namespace lapse::apps
