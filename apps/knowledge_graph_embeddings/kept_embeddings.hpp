// Embeddings as they were at a moment of the training.
#pragma once

#include <cstdint>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"

namespace lapse::apps {

// In tables of their own, without the state of the optimiser: the memory of the embeddings once more. So a
// checkpoint can have them. Used by the thread that owns the manager.
class KeptEmbeddings {
 public:
  // Collective. For such tables; the names of all begin with `name`, empty: tables without given names.
  KeptEmbeddings(adapm::ParameterManager& manager, const std::string& name, const EmbeddingTables& tables);

  // Collective. Ranks without workers take part.
  void keep(const EmbeddingTables& tables);
  // Collective. Sets the embeddings to what was kept, when no worker is training.
  void restore(const EmbeddingTables& tables) const;

  const EmbeddingTables& tables() const { return kept_; }

 private:
  ParameterServer& server_;
  EmbeddingTables kept_;
};

}  // namespace lapse::apps
