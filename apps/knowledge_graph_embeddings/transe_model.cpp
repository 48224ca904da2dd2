#include "apps/knowledge_graph_embeddings/transe_model.hpp"

#include <array>
#include <cmath>

#include "lapse/store/update_rules/kernels.hpp"

namespace lapse::apps {

namespace {

// Independent sums, for vector registers.
float distance(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t kLanes = 16;
  std::array<float, kLanes> sums{};
  std::size_t k = 0;
  for (; k + kLanes <= a.size(); k += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const float difference = a[k + lane] - b[k + lane];
      sums[lane] += difference * difference;
    }
  }
  for (std::size_t lane = 0; k < a.size(); ++k, ++lane) sums[lane] += (a[k] - b[k]) * (a[k] - b[k]);
  for (std::size_t half = kLanes / 2; half != 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return std::sqrt(sums[0]);
}

}  // namespace

void TransEModel::query(Side missing, std::span<const float> known, std::span<const float> relation,
                        std::span<float> query) const {
  const float sign = missing == Side::object ? 1.0F : -1.0F;
  for (std::size_t k = 0; k < query.size(); ++k) query[k] = known[k] + sign * relation[k];
}

void TransEModel::add_query_gradient(Side missing, std::span<const float>, std::span<const float>,
                                     std::span<const float> query_gradient, std::span<float> known_gradient,
                                     std::span<float> relation_gradient) const {
  add(known_gradient, query_gradient);
  axpy(missing == Side::object ? 1.0F : -1.0F, query_gradient, relation_gradient);
}

float TransEModel::score(std::span<const float> query, std::span<const float> candidate) const {
  return margin_ - distance(query, candidate);
}

void TransEModel::scores(std::span<const float> query, std::span<const float> candidates,
                         std::span<float> scores) const {
  for (std::size_t i = 0; i < scores.size(); ++i)
    scores[i] = margin_ - distance(query, candidates.subspan(i * query.size(), query.size()));
}

void TransEModel::add_score_gradient(std::span<const float> query, std::span<const float> candidate,
                                     float slope, std::span<float> query_gradient,
                                     std::span<float> candidate_gradient) const {
  const float length = distance(query, candidate);
  if (length == 0) return;
  const float factor = slope / length;
  for (std::size_t k = 0; k < query.size(); ++k) {
    const float change = factor * (query[k] - candidate[k]);
    query_gradient[k] -= change;
    candidate_gradient[k] += change;
  }
}

}  // namespace lapse::apps
