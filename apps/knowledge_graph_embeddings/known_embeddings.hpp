// Starts from the embeddings of a trained model.
#pragma once

#include <string>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"

namespace lapse::apps {

// Sets the embeddings of the entities and relations, found by name, that the trained model has; others stay
// as they are. `model`: the prefix of its files, or the path of its description. Returns a line for the user.
// Not collective: called by one worker. Throws FileError, and ConfigurationError if the model is another one
// (--model, --dim, --reciprocal) or the graph has no names.
std::string set_known_embeddings(Worker& worker, const std::string& model, const KnowledgeGraph& graph,
                                 const ModelOptions& options, const QueryForm& form,
                                 const EmbeddingTables& tables);

}  // namespace lapse::apps
