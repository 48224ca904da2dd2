// The rank of the true entity among all entities.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/known_triples.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"

namespace lapse::apps {

// Averages over ranks; 0 over no ranks.
struct RankingMetrics {
  std::uint64_t ranks = 0;
  double mean_reciprocal_rank = 0;
  double hits_at_1 = 0;  // share of ranks that are at most 1
  double hits_at_3 = 0;
  double hits_at_10 = 0;
};

// The sums of these averages, which workers add up.
class RankingSums {
 public:
  void add(double rank);
  std::span<double> values() { return values_; }
  RankingMetrics metrics() const;

 private:
  std::array<double, 5> values_{};  // ranks, reciprocals, hits at 1, 3, 10
};

// The embeddings of all entities and relations, row by row.
struct EmbeddingValues {
  std::span<const float> entities;
  std::span<const float> relations;
};

// Ranks entities by their scores, the largest first. Filtered: entities that make other true triples are
// ignored. Entities with equal scores share their mean rank, so that a model with equal scores for all
// entities is not rewarded. NaN scores count as larger than the true entity's. Any number of threads may use
// it.
class Ranker {
 public:
  Ranker(const EmbeddingModel& model, const QueryForm& form, const KnownTriples& known)
      : model_(model), form_(form), known_(known) {}

  // Returns the rank, from 1, of the subject and then of the object of each triple.
  std::vector<double> ranks(std::span<const Triple> triples, const EmbeddingValues& values) const;

 private:
  struct Query;

  void ask(Query& query, const EmbeddingValues& values) const;
  void compare(std::span<Query> queries, std::span<const float> entities) const;
  double filtered_rank(const Query& query, const EmbeddingValues& values) const;

  const EmbeddingModel& model_;
  QueryForm form_;
  const KnownTriples& known_;
};

}  // namespace lapse::apps
