// The loss and its gradients for many queries that share their candidates.
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
  std::optional<std::uint32_t> answer_candidate;  // its index among the candidates
};

// Distinct entities, row by row.
struct Candidates {
  std::span<const float> values;
  std::span<float> gradients;
};

// Every candidate except the answer is a negative of every query. So scores, gradients of the queries and
// gradients of the candidates are three matrix products. Terms shared by both queries of a triple without
// reciprocal relations (its score in a logistic loss, its regularization) count once, with the query for the
// object, like in TripleLoss. A candidate that makes another true triple counts as a negative. Belongs to one
// worker.
class SharedCandidatesLoss {
 public:
  SharedCandidatesLoss(const EmbeddingModel& model, const LossOptions& options)
      : model_(model),
        kind_(options.kind),
        regularizer_(model, options.l2, options.n3),
        maker_(model, options.dropout) {}

  // Seeds dropout.
  void seed(std::uint64_t seed, std::uint64_t stream) { maker_.seed(seed, stream); }

  // Adds the gradients to those of the queries' rows and of the candidates, which may share memory. Returns
  // the loss without regularization.
  double add_gradients(std::span<const CandidateQuery> queries, const Candidates& candidates);

 private:
  // Like add_gradients, for as many queries as fit into a score matrix of limited size.
  double add_block(std::span<const CandidateQuery> queries, const Candidates& candidates);
  // Returns the loss, and replaces the scores by slopes.
  double loss_of_scores(const CandidateQuery& query, float& truth, std::span<float> scores) const;

  const EmbeddingModel& model_;
  LossKind kind_;
  Regularizer regularizer_;
  QueryMaker maker_;
  std::vector<RandomEngine> dropped_;  // by query, like the following
  std::vector<float> queries_;
  std::vector<float> query_gradients_;
  std::vector<float> scores_;  // queries x candidates; later their slopes
};

}  // namespace lapse::apps
