#include "apps/knowledge_graph_embeddings/embedding_model.hpp"

#include "apps/knowledge_graph_embeddings/complex_model.hpp"
#include "apps/knowledge_graph_embeddings/distmult_model.hpp"
#include "apps/knowledge_graph_embeddings/rescal_model.hpp"
#include "apps/knowledge_graph_embeddings/transe_model.hpp"

namespace lapse::apps {

std::string_view to_string(ModelKind kind) {
  switch (kind) {
    case ModelKind::complex:
      return "complex";
    case ModelKind::distmult:
      return "distmult";
    case ModelKind::rescal:
      return "rescal";
    case ModelKind::transe:
      break;
  }
  return "transe";
}

std::unique_ptr<const EmbeddingModel> make_model(const ModelOptions& options) {
  switch (options.kind) {
    case ModelKind::distmult:
      return std::make_unique<DistMultModel>(options.dimensions);
    case ModelKind::rescal:
      return std::make_unique<RescalModel>(options.dimensions);
    case ModelKind::transe:
      return std::make_unique<TransEModel>(options.dimensions, static_cast<float>(options.margin));
    case ModelKind::complex:
      break;
  }
  return std::make_unique<ComplExModel>(options.dimensions);
}

void EmbeddingModel::score_matrix(std::span<const float> queries, std::span<const float> candidates,
                                  std::span<float> scores) const {
  const std::size_t count = candidates.size() / entity_length_;
  for (std::size_t i = 0; i < queries.size() / entity_length_; ++i)
    this->scores(queries.subspan(i * entity_length_, entity_length_), candidates,
                 scores.subspan(i * count, count));
}

void EmbeddingModel::add_score_matrix_gradients(std::span<const float> queries,
                                                std::span<const float> candidates,
                                                std::span<const float> slopes,
                                                std::span<float> query_gradients,
                                                std::span<float> candidate_gradients) const {
  const std::size_t count = candidates.size() / entity_length_;
  const auto row = [&](auto matrix, std::size_t i) {
    return matrix.subspan(i * entity_length_, entity_length_);
  };
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const std::size_t query = i / count;
    const std::size_t candidate = i % count;
    add_score_gradient(row(queries, query), row(candidates, candidate), slopes[i],
                       row(query_gradients, query), row(candidate_gradients, candidate));
  }
}

}  // namespace lapse::apps
