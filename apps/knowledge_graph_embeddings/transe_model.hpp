// TransE.
#pragma once

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"

namespace lapse::apps {

// score = margin - |subject + relation - object|, the Euclidean distance (Bordes et al., NIPS'13). The query
// is subject + relation, or object - relation. With the margin, a logistic loss replaces the paper's ranking
// of pairs: triples closer than the margin count as true.
class TransEModel final : public EmbeddingModel {
 public:
  TransEModel(std::size_t dimensions, float margin)
      : EmbeddingModel(dimensions, dimensions), margin_(margin) {}

  void query(Side missing, std::span<const float> known, std::span<const float> relation,
             std::span<float> query) const override;
  void add_query_gradient(Side missing, std::span<const float> known, std::span<const float> relation,
                          std::span<const float> query_gradient, std::span<float> known_gradient,
                          std::span<float> relation_gradient) const override;
  float score(std::span<const float> query, std::span<const float> candidate) const override;
  void scores(std::span<const float> query, std::span<const float> candidates,
              std::span<float> scores) const override;
  // At distance 0 the gradient is 0.
  void add_score_gradient(std::span<const float> query, std::span<const float> candidate, float slope,
                          std::span<float> query_gradient,
                          std::span<float> candidate_gradient) const override;

 private:
  float margin_;
};

}  // namespace lapse::apps
