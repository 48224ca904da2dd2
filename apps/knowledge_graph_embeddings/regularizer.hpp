// Regularization of embeddings.
#pragma once

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_row.hpp"

namespace lapse::apps {

// l2/2 times the sum of the squares of an embedding's numbers, plus n3 times the sum of the cubes of their
// absolute values (the nuclear 3-norm: Lacroix, Usunier & Obozinski, "Canonical Tensor Decomposition for
// Knowledge Base Completion", ICML'18); of complex numbers for models that have them. Immutable.
class Regularizer {
 public:
  Regularizer(const EmbeddingModel& model, double l2, double n3)
      : model_(model), l2_(static_cast<float>(l2)), n3_(static_cast<float>(n3)) {}

  bool is_active() const { return l2_ != 0 || n3_ != 0; }
  // Adds the gradients for two entities and a relation to those of the rows.
  void add_gradients(const EmbeddingRow& known, const EmbeddingRow& relation,
                     const EmbeddingRow& answer) const {
    add_gradient(known, model_.entity_length());
    add_gradient(relation, model_.relation_length());
    add_gradient(answer, model_.entity_length());
  }

 private:
  void add_gradient(const EmbeddingRow& row, std::size_t length) const;

  const EmbeddingModel& model_;
  float l2_;
  float n3_;
};

}  // namespace lapse::apps
