// Measures how well the embeddings predict held-out triples.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/known_triples.hpp"
#include "apps/knowledge_graph_embeddings/ranking.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Ranks of both sides of held-out triples.
struct SplitMetrics {
  RankingMetrics all;
  RankingMetrics seen;  // of triples whose entities both occur in training triples
};

struct Evaluation {
  SplitMetrics valid;
  SplitMetrics test;
  double seconds = 0;
};

// Which triples are ranked.
struct Splits {
  bool valid = true;
  bool test = true;
};

// Ranks the held-out triples of a graph. Used by the server's thread. Graph and model must outlive it.
class Evaluator {
 public:
  Evaluator(const KnowledgeGraph& graph, const EmbeddingModel& model, const QueryForm& form)
      : graph_(graph), model_(model), form_(form), known_(graph) {}

  // Collective. The result is equal on every rank. The workers of a rank pull all embeddings once, each a
  // part, into shared memory; then every worker of the job ranks a share of the triples.
  Evaluation evaluate(ParameterServer& server, std::int32_t workers, const EmbeddingTables& tables,
                      Splits splits = {}) const;

 private:
  SplitMetrics evaluate(Worker& worker, const std::vector<Triple>& split,
                        const EmbeddingValues& values) const;

  const KnowledgeGraph& graph_;
  const EmbeddingModel& model_;
  QueryForm form_;
  KnownTriples known_;
};

}  // namespace lapse::apps
