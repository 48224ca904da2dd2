// The loss of a triple and its own negatives, and its gradients.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_row.hpp"
#include "apps/knowledge_graph_embeddings/loss_options.hpp"
#include "apps/knowledge_graph_embeddings/query_maker.hpp"
#include "apps/knowledge_graph_embeddings/regularizer.hpp"

namespace lapse::apps {

// A triple, with entities that replace its subject and its object in negatives.
struct TripleSample {
  EmbeddingRow subject;
  EmbeddingRow relation;
  EmbeddingRow object;
  std::span<const EmbeddingRow> other_subjects;
  std::span<const EmbeddingRow> other_objects;
  EmbeddingRow inverse_relation = {};  // for the query for the subject; without a value: the relation
};

// The logistic loss: with f the score,
//
//   log(1 + exp(-f(triple))) + sum over the negatives of log(1 + exp(f(negative)))
//
// or the softmax loss of its two queries, see score_losses.hpp; plus the regularization of the triple only,
// so that an entity is regularized in proportion to its number of triples. With an inverse relation the
// triple counts twice, once for each query, in the loss and in the regularization. A negative that happens to
// be true counts like any other. Belongs to one worker.
class TripleLoss {
 public:
  TripleLoss(const EmbeddingModel& model, const LossOptions& options)
      : model_(model),
        kind_(options.kind),
        regularizer_(model, options.l2, options.n3),
        queries_(model, options.dropout),
        query_(model.entity_length()),
        query_gradient_(model.entity_length()) {}

  // Seeds dropout.
  void seed(std::uint64_t seed, std::uint64_t stream) { queries_.seed(seed, stream); }

  // Adds the gradients to the rows of the sample, and returns its loss without regularization.
  double add_gradients(const TripleSample& sample);

 private:
  // Adds the gradients of the candidates for one side and returns their loss; `truth` may be null.
  double add_side(Side missing, const EmbeddingRow& known, const EmbeddingRow& relation,
                  const EmbeddingRow* truth, std::span<const EmbeddingRow> others);
  // Returns the loss, and replaces scores_ by slopes.
  double loss_of_scores(bool first_is_true);

  const EmbeddingModel& model_;
  LossKind kind_;
  Regularizer regularizer_;
  QueryMaker queries_;
  std::vector<float> query_;
  std::vector<float> query_gradient_;
  std::vector<float> scores_;  // of the true entity, if any, then of the others; later their slopes
};

}  // namespace lapse::apps
