// ComplEx.
#pragma once

#include "apps/knowledge_graph_embeddings/dot_product_model.hpp"

namespace lapse::apps {

// score = Re(sum over the dimensions of  subject * relation * conj(object)), all complex (Trouillon et al.,
// ICML'16, equation 11). Entities and relations: the real parts, then the imaginary parts. The query is
// subject * relation, or conj(relation) * object.
class ComplExModel final : public DotProductModel {
 public:
  explicit ComplExModel(std::size_t dimensions) : DotProductModel(2 * dimensions, 2 * dimensions) {}

  bool has_complex_numbers() const override { return true; }
  void query(Side missing, std::span<const float> known, std::span<const float> relation,
             std::span<float> query) const override;
  void add_query_gradient(Side missing, std::span<const float> known, std::span<const float> relation,
                          std::span<const float> query_gradient, std::span<float> known_gradient,
                          std::span<float> relation_gradient) const override;
};

}  // namespace lapse::apps
