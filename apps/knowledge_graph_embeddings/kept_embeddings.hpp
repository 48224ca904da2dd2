// Embeddings as they were at a moment of the training.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Every worker of the job keeps an even share of all embeddings, without the state of the optimiser: together
// the memory of the embeddings themselves. Used by the thread that owns the server, with the same number of
// workers of this rank in every call.
class KeptEmbeddings {
 public:
  // Collective. Ranks without workers take part.
  void keep(ParameterServer& server, std::int32_t workers, const EmbeddingTables& tables);
  // Collective. Sets the embeddings to what was kept, when no worker is training.
  void restore(ParameterServer& server, std::int32_t workers, const EmbeddingTables& tables) const;

 private:
  struct Share {
    std::vector<float> entities;
    std::vector<float> relations;
  };

  std::vector<Share> shares_;  // by the worker's local index
};

}  // namespace lapse::apps
