#include "apps/knowledge_graph_embeddings/embedding_model.hpp"

#include "apps/knowledge_graph_embeddings/complex_model.hpp"
#include "apps/knowledge_graph_embeddings/distmult_model.hpp"
#include "apps/knowledge_graph_embeddings/rescal_model.hpp"
#include "apps/knowledge_graph_embeddings/transe_model.hpp"

namespace lapse::apps {

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

}  // namespace lapse::apps
