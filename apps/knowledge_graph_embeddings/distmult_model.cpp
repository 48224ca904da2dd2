#include "apps/knowledge_graph_embeddings/distmult_model.hpp"

namespace lapse::apps {

namespace {

void add_product(const float* __restrict a, const float* __restrict b, float* __restrict sum,
                 std::size_t count) {
  for (std::size_t k = 0; k < count; ++k) sum[k] += a[k] * b[k];
}

}  // namespace

void DistMultModel::query(Side, std::span<const float> known, std::span<const float> relation,
                          std::span<float> query) const {
  for (std::size_t k = 0; k < query.size(); ++k) query[k] = known[k] * relation[k];
}

void DistMultModel::add_query_gradient(Side, std::span<const float> known, std::span<const float> relation,
                                       std::span<const float> query_gradient, std::span<float> known_gradient,
                                       std::span<float> relation_gradient) const {
  add_product(relation.data(), query_gradient.data(), known_gradient.data(), known.size());
  add_product(known.data(), query_gradient.data(), relation_gradient.data(), relation.size());
}

}  // namespace lapse::apps
