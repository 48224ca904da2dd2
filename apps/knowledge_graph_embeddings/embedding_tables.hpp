// The tables of embeddings.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/optimiser_options.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"

namespace lapse::apps {

// Two tables. Their keys are the numbers of the entities, and of the relations and their inverses. Pushes
// carry gradients.
struct EmbeddingTables {
  std::array<TableId, 2> ids() const { return {entities.id(), relations.id()}; }

  Table<float> entities;
  Table<float> relations;
};

// Collective. Creates the tables <name>-entities and <name>-relations; for an empty name, unnamed tables.
// Initial elements are normally distributed around 0.
EmbeddingTables create_embedding_tables(adapm::ParameterManager& manager, const std::string& name,
                                        const KnowledgeGraph& graph, const EmbeddingModel& model,
                                        const QueryForm& form, double standard_deviation,
                                        const OptimiserOptions& optimiser, Consistency consistency,
                                        std::uint64_t seed);

}  // namespace lapse::apps
