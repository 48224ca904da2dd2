// The loss of a triple and its negatives, and its gradients.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"

namespace lapse::apps {

// The embedding of an entity or relation, and the sum of its gradients. Two rows of a sample may be the same
// memory.
struct EmbeddingRow {
  const float* value = nullptr;
  float* gradient = nullptr;
};

// A triple, with entities that take the place of its subject and of its object in negatives.
struct TripleSample {
  EmbeddingRow subject;
  EmbeddingRow relation;
  EmbeddingRow object;
  std::span<const EmbeddingRow> other_subjects;
  std::span<const EmbeddingRow> other_objects;
};

// The logistic loss: with f the score,
//
//   log(1 + exp(-f(triple))) + sum over the negatives of log(1 + exp(f(negative)))
//     + l2/2 (|subject|^2 + |relation|^2 + |object|^2)
//
// Only the triple itself is regularized, so an entity in proportion to its number of triples. A negative that
// happens to be true counts as any other. Belongs to one worker.
class TripleLoss {
 public:
  TripleLoss(const EmbeddingModel& model, double l2)
      : model_(model),
        l2_(static_cast<float>(l2)),
        query_(model.entity_length()),
        query_gradient_(model.entity_length()) {}

  // Adds the gradients to the rows of the sample and returns its loss without the regularization.
  double add_gradients(const TripleSample& sample);

 private:
  // Adds the gradients of the candidates for one side and returns their loss; `truth` may be null.
  double add_side(Side missing, const EmbeddingRow& known, const EmbeddingRow& relation,
                  const EmbeddingRow* truth, std::span<const EmbeddingRow> others);
  double add_candidate(const EmbeddingRow& candidate, bool is_true);
  void regularize(const EmbeddingRow& row, std::size_t length) const;

  const EmbeddingModel& model_;
  float l2_;
  std::vector<float> query_;
  std::vector<float> query_gradient_;
};

}  // namespace lapse::apps
