#include "apps/knowledge_graph_embeddings/triple_partition.hpp"

#include <algorithm>
#include <numeric>

#include "lapse/core/random.hpp"
#include "lapse/io/loading/shuffle.hpp"

namespace lapse::apps {

TriplePartition::TriplePartition(const KnowledgeGraph& graph, TripleClustering clustering,
                                 WorkerCounts workers, std::int32_t ranks, std::uint64_t seed)
    : graph_(graph),
      worker_of_(graph.train.size()),
      counts_(total_workers(workers, ranks)),
      relations_(static_cast<std::size_t>(ranks)) {
  if (clustering == TripleClustering::by_relation) {
    std::vector<std::uint32_t> capacities;
    for (std::int32_t rank = 0; rank < ranks; ++rank)
      capacities.push_back(static_cast<std::uint32_t>(workers_of(workers, Rank{rank})));
    cluster(BalancedPartition(graph.relation_counts, capacities), workers, ranks);
  } else {
    deal(seed);
  }
  for (const std::uint32_t worker : worker_of_) ++counts_[worker];
}

// Within a rank, the triples of each relation go to the workers round-robin.
void TriplePartition::cluster(const BalancedPartition& relations, WorkerCounts workers, std::int32_t ranks) {
  std::vector<std::size_t> dealt(static_cast<std::size_t>(ranks));
  for (std::size_t i = 0; i < graph_.train.size(); ++i) {
    const std::size_t part = relations.part_of(graph_.train[i].relation);
    const Rank rank{static_cast<std::int32_t>(part)};
    const auto turn = dealt[part]++ % static_cast<std::size_t>(workers_of(workers, rank));
    worker_of_[i] = static_cast<std::uint32_t>(workers_before(workers, rank) + turn);
  }
  for (std::size_t part = 0; part < relations.parts(); ++part) {
    const auto ids = relations.ids_with_work(part);
    relations_[part].assign(ids.begin(), ids.end());
  }
}

void TriplePartition::deal(std::uint64_t seed) {
  for (std::size_t i = 0; i < worker_of_.size(); ++i)
    worker_of_[i] = static_cast<std::uint32_t>(i % counts_.size());
  RandomEngine random(seed);
  io::shuffle(std::span(worker_of_), random);
}

std::vector<Triple> TriplePartition::triples(std::size_t worker) const {
  std::vector<Triple> triples;
  triples.reserve(counts_[worker]);
  for (std::size_t i = 0; i < worker_of_.size(); ++i) {
    if (worker_of_[i] == worker) triples.push_back(graph_.train[i]);
  }
  return triples;
}

std::span<const std::uint32_t> TriplePartition::relations(Rank rank) const {
  return relations_[rank.index()];
}

double TriplePartition::imbalance() const {
  const std::uint64_t largest = *std::max_element(counts_.begin(), counts_.end());
  return static_cast<double>(largest * counts_.size()) / static_cast<double>(graph_.train.size());
}

}  // namespace lapse::apps
