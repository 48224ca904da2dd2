// RESCAL.
#pragma once

#include "apps/knowledge_graph_embeddings/dot_product_model.hpp"

namespace lapse::apps {

// score = subject^T R object, where the relation R is a matrix of dimensions x dimensions, row by row
// (Nickel et al., ICML'11). The query is R^T subject, or R object.
class RescalModel final : public DotProductModel {
 public:
  explicit RescalModel(std::size_t dimensions) : DotProductModel(dimensions, dimensions * dimensions) {}

  void query(Side missing, std::span<const float> known, std::span<const float> relation,
             std::span<float> query) const override;
  void add_query_gradient(Side missing, std::span<const float> known, std::span<const float> relation,
                          std::span<const float> query_gradient, std::span<float> known_gradient,
                          std::span<float> relation_gradient) const override;
};

}  // namespace lapse::apps
