// Assigns triples to workers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/common/balanced_partition.hpp"
#include "apps/common/worker_counts.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "lapse/core/types.hpp"

namespace lapse::apps {

enum class TripleClustering : std::uint8_t {
  by_relation,  // all triples of a relation on one rank, so that its parameters can stay there
  none          // triples dealt out at random
};

// Divides the training triples evenly among the workers of all ranks. With clustering, ranks get whole
// relations (the largest first, each to the rank with the least work per worker), and the workers of a rank
// get equal shares. Equal on every rank. Immutable; refers to the graph.
class TriplePartition {
 public:
  // Requires counts of workers valid for `ranks` ranks, with at least one worker.
  TriplePartition(const KnowledgeGraph& graph, TripleClustering clustering, WorkerCounts workers,
                  std::int32_t ranks, std::uint64_t seed);

  std::size_t workers() const { return counts_.size(); }
  std::size_t ranks() const { return relations_.size(); }
  std::vector<Triple> triples(std::size_t worker) const;
  std::uint64_t count(std::size_t worker) const { return counts_[worker]; }
  // With clustering, the relations whose triples are on this rank; otherwise none.
  std::span<const std::uint32_t> relations(Rank rank) const;
  // The triples of the busiest worker, divided by the mean.
  double imbalance() const;

 private:
  void cluster(const BalancedPartition& relations, WorkerCounts workers, std::int32_t ranks);
  void deal(std::uint64_t seed);

  const KnowledgeGraph& graph_;
  std::vector<std::uint32_t> worker_of_;               // by number of the triple
  std::vector<std::uint64_t> counts_;                  // triples by worker
  std::vector<std::vector<std::uint32_t>> relations_;  // by rank
};

}  // namespace lapse::apps
