// Models whose score is linear in each entity.
#pragma once

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "lapse/store/kernels.hpp"

namespace lapse::apps {

// score = query . candidate
class DotProductModel : public EmbeddingModel {
 public:
  using EmbeddingModel::EmbeddingModel;

  float score(std::span<const float> query, std::span<const float> candidate) const final {
    return dot(query, candidate);
  }
  void scores(std::span<const float> query, std::span<const float> candidates,
              std::span<float> scores) const final {
    const auto dot_product = kernels<float>().dot;
    const float* candidate = candidates.data();
    for (float& score : scores) {
      score = dot_product(query.data(), candidate, query.size());
      candidate += query.size();
    }
  }
  void add_score_gradient(std::span<const float> query, std::span<const float> candidate, float slope,
                          std::span<float> query_gradient, std::span<float> candidate_gradient) const final {
    axpy(slope, candidate, query_gradient);
    axpy(slope, query, candidate_gradient);
  }
};

}  // namespace lapse::apps
