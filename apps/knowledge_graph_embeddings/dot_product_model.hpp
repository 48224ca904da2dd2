// Models whose score is linear in each entity.
#pragma once

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/matrix_product.hpp"
#include "lapse/store/update_rules/kernels.hpp"

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
  void score_matrix(std::span<const float> queries, std::span<const float> candidates,
                    std::span<float> scores) const final {
    const std::size_t length = entity_length();
    multiply_transposed(queries.data(), candidates.data(), scores.data(), queries.size() / length,
                        candidates.size() / length, length);
  }
  void add_score_matrix_gradients(std::span<const float> queries, std::span<const float> candidates,
                                  std::span<const float> slopes, std::span<float> query_gradients,
                                  std::span<float> candidate_gradients) const final {
    const std::size_t length = entity_length();
    const std::size_t query_count = queries.size() / length;
    const std::size_t candidate_count = candidates.size() / length;
    add_matrix_product(slopes.data(), candidates.data(), query_gradients.data(), query_count, length,
                       candidate_count);
    add_transposed_product(slopes.data(), queries.data(), candidate_gradients.data(), candidate_count, length,
                           query_count);
  }
};

}  // namespace lapse::apps
