// DistMult.
#pragma once

#include "apps/knowledge_graph_embeddings/dot_product_model.hpp"

namespace lapse::apps {

// score = sum over the dimensions of  subject * relation * object  (Yang et al., ICLR'15): RESCAL with
// diagonal matrices. It does not distinguish subject and object.
class DistMultModel final : public DotProductModel {
 public:
  explicit DistMultModel(std::size_t dimensions) : DotProductModel(dimensions, dimensions) {}

  void query(Side missing, std::span<const float> known, std::span<const float> relation,
             std::span<float> query) const override;
  void add_query_gradient(Side missing, std::span<const float> known, std::span<const float> relation,
                          std::span<const float> query_gradient, std::span<float> known_gradient,
                          std::span<float> relation_gradient) const override;
};

}  // namespace lapse::apps
