#include "apps/knowledge_graph_embeddings/rescal_model.hpp"

#include <algorithm>

namespace lapse::apps {

void RescalModel::query(Side missing, std::span<const float> known, std::span<const float> relation,
                        std::span<float> query) const {
  const std::size_t n = known.size();
  if (missing == Side::object) {
    std::fill(query.begin(), query.end(), 0.0F);
    for (std::size_t i = 0; i < n; ++i) axpy(known[i], relation.subspan(i * n, n), query);
  } else {
    for (std::size_t i = 0; i < n; ++i) query[i] = dot(relation.subspan(i * n, n), known);
  }
}

void RescalModel::add_query_gradient(Side missing, std::span<const float> known,
                                     std::span<const float> relation, std::span<const float> query_gradient,
                                     std::span<float> known_gradient,
                                     std::span<float> relation_gradient) const {
  const std::size_t n = known.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = relation.subspan(i * n, n);
    const auto row_gradient = relation_gradient.subspan(i * n, n);
    if (missing == Side::object) {
      known_gradient[i] += dot(row, query_gradient);
      axpy(known[i], query_gradient, row_gradient);
    } else {
      axpy(query_gradient[i], row, known_gradient);
      axpy(query_gradient[i], known, row_gradient);
    }
  }
}

}  // namespace lapse::apps
