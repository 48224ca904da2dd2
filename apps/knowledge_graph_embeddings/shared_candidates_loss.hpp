// The loss of many queries that share their candidates, and its gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_row.hpp"
#include "apps/knowledge_graph_embeddings/loss_options.hpp"
#include "apps/knowledge_graph_embeddings/query_maker.hpp"
#include "apps/knowledge_graph_embeddings/regularizer.hpp"

namespace lapse::apps {

// A query with its answer, which may be among the candidates.
struct CandidateQuery {
  EmbeddingRow known;
  EmbeddingRow relation;
  EmbeddingRow answer;
  Side missing = Side::object;
  std::optional<std::uint32_t> answer_candidate;  // its number there
};

// Different entities, row by row.
struct Candidates {
  std::span<const float> values;
  std::span<float> gradients;
};

// Every candidate but the answer is a negative of every query. Then scores, gradients of the queries and
// gradients of the candidates are three products of matrices. What two queries of a triple without reciprocal
// relations have in common, its score in a logistic loss and its regularization, counts with the query for
// the object, as for TripleLoss. A candidate that makes another true triple counts as a negative. Belongs to
// one worker.
class SharedCandidatesLoss {
 public:
  SharedCandidatesLoss(const EmbeddingModel& model, const LossOptions& options)
      : model_(model),
        kind_(options.kind),
        regularizer_(model, options.l2, options.n3),
        maker_(model, options.dropout) {}

  // Of dropout.
  void seed(std::uint64_t seed, std::uint64_t stream) { maker_.seed(seed, stream); }

  // Adds the gradients to those of the queries' rows and of the candidates, which may be the same memory.
  // Returns the loss without the regularization.
  double add_gradients(std::span<const CandidateQuery> queries, const Candidates& candidates);

 private:
  // As many queries as a matrix of scores of limited size has rows.
  double add_block(std::span<const CandidateQuery> queries, const Candidates& candidates);
  // Replaces the scores by slopes.
  double loss_of_scores(const CandidateQuery& query, float& truth, std::span<float> scores) const;

  const EmbeddingModel& model_;
  LossKind kind_;
  Regularizer regularizer_;
  QueryMaker maker_;
  std::vector<RandomEngine> dropped_;  // by query, as the following
  std::vector<float> queries_;
  std::vector<float> query_gradients_;
  std::vector<float> scores_;  // queries x candidates; later their slopes
};

}  // namespace lapse::apps
