#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"

namespace lapse::apps {

EmbeddingTables create_embedding_tables(adapm::ParameterManager& manager, const std::string& name,
                                        const KnowledgeGraph& graph, const EmbeddingModel& model,
                                        const QueryForm& form, double standard_deviation,
                                        const OptimiserOptions& optimiser, Consistency consistency,
                                        std::uint64_t seed) {
  const auto create = [&](const std::string& suffix, std::uint64_t keys, std::size_t length,
                          std::uint64_t table_seed) {
    return manager.create_table<float>({.name = name.empty() ? "" : name + suffix,
                                        .keys = keys,
                                        .length = length,
                                        .initialiser = Initialiser::normal(0, standard_deviation),
                                        .seed = table_seed,
                                        .update_rule = optimiser.update_rule(),
                                        .consistency = consistency});
  };
  const Table<float> entities = create("-entities", graph.entities, model.entity_length(), 2 * seed);
  return {entities, create("-relations", form.relation_keys(), model.relation_length(), 2 * seed + 1)};
}

}  // namespace lapse::apps
