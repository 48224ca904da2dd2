// Keeps embeddings of an earlier time of the training.
#pragma once

#include <cstdint>
#include <string>

#include "adapm/parameter_manager.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"

namespace lapse::apps {

// Stores them in tables of their own, so that checkpoints can have them, without optimiser state. Doubles the
// memory of the embeddings. Used by the manager's thread.
class KeptEmbeddings {
 public:
  // Collective. For tables like these. The names of all begin with `name`; empty: unnamed tables.
  KeptEmbeddings(adapm::ParameterManager& manager, const std::string& name, const EmbeddingTables& tables);

  // Collective. Keeps the current embeddings. Ranks without workers take part.
  void keep(const EmbeddingTables& tables);
  // Collective. Restores the kept embeddings. Requires that no worker is training.
  void restore(const EmbeddingTables& tables) const;

  const EmbeddingTables& tables() const { return kept_; }

 private:
  ParameterServer& server_;
  EmbeddingTables kept_;
};

}  // namespace lapse::apps
