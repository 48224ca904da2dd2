// Division of the triples among workers.
#include "apps/knowledge_graph_embeddings/triple_partition.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;

namespace {

// Relation r has sizes[r] triples.
KnowledgeGraph graph_of(const std::vector<std::uint32_t>& sizes) {
  std::vector<Triple> triples;
  for (std::uint32_t relation = 0; relation < sizes.size(); ++relation) {
    for (std::uint32_t i = 0; i < sizes[relation]; ++i) triples.push_back({i % 50, relation, i / 50});
  }
  return make_graph(50, sizes.size(), triples);
}

auto sorted(std::vector<Triple> triples) {
  std::sort(triples.begin(), triples.end(), [](const Triple& a, const Triple& b) {
    return std::tie(a.relation, a.subject, a.object) < std::tie(b.relation, b.subject, b.object);
  });
  return triples;
}

std::vector<Triple> triples_of_all(const TriplePartition& partition) {
  std::vector<Triple> all;
  for (std::size_t worker = 0; worker < partition.workers(); ++worker) {
    const auto triples = partition.triples(worker);
    all.insert(all.end(), triples.begin(), triples.end());
  }
  return all;
}

}  // namespace

TEST_CASE("every triple belongs to one worker") {
  const KnowledgeGraph graph = graph_of({500, 20, 0, 300, 7, 1});
  const auto clustering = GENERATE(TripleClustering::by_relation, TripleClustering::none);
  const std::vector<std::int32_t> workers{2, 0, 1, 3};
  const TriplePartition partition(graph, clustering, workers, 4, 1);
  CHECK(partition.workers() == 6);
  CHECK(sorted(triples_of_all(partition)) == sorted(graph.train));
  const TriplePartition again(graph, clustering, workers, 4, 1);
  CHECK(triples_of_all(again) == triples_of_all(partition));
}

TEST_CASE("clustered by relation, a relation is on one rank, and that rank lists it") {
  const KnowledgeGraph graph = graph_of({500, 20, 0, 300, 7, 1});
  const std::vector<std::int32_t> workers{2, 0, 1, 3};
  const TriplePartition partition(graph, TripleClustering::by_relation, workers, 4, 1);
  std::size_t worker = 0;
  std::set<std::uint32_t> found;
  for (std::int32_t rank = 0; rank < 4; ++rank) {
    std::set<std::uint32_t> relations;
    for (std::int32_t i = 0; i < workers[static_cast<std::size_t>(rank)]; ++i) {
      for (const Triple& triple : partition.triples(worker)) relations.insert(triple.relation);
      ++worker;
    }
    const auto returned = partition.relations(Rank{rank});
    CHECK(relations == std::set<std::uint32_t>(returned.begin(), returned.end()));
    for (const std::uint32_t relation : relations) CHECK(found.insert(relation).second);
  }
  CHECK(found == std::set<std::uint32_t>{0, 1, 3, 4, 5});
}

TEST_CASE("many relations give even shares, in proportion to the workers of a rank") {
  RandomEngine random(4);
  std::vector<std::uint32_t> sizes(200);
  for (auto& size : sizes) size = static_cast<std::uint32_t>(random.below(100));
  const KnowledgeGraph graph = graph_of(sizes);
  CHECK(
      TriplePartition(graph, TripleClustering::by_relation, std::vector<std::int32_t>{1}, 4, 1).imbalance() <
      1.02);
  CHECK(TriplePartition(graph, TripleClustering::by_relation, std::vector<std::int32_t>{3, 1, 2}, 3, 1)
            .imbalance() < 1.02);
}

TEST_CASE("within a rank workers share even a single relation; between ranks it is not divided") {
  const KnowledgeGraph graph = graph_of({1000});
  CHECK(
      TriplePartition(graph, TripleClustering::by_relation, std::vector<std::int32_t>{4}, 1, 1).imbalance() ==
      1);
  CHECK(
      TriplePartition(graph, TripleClustering::by_relation, std::vector<std::int32_t>{1}, 4, 1).imbalance() ==
      4);
  CHECK(TriplePartition(graph, TripleClustering::none, std::vector<std::int32_t>{1}, 4, 1).imbalance() == 1);
}

TEST_CASE("dealt out at random, shares differ by one triple at most, and no relation stays together") {
  const KnowledgeGraph graph = graph_of({500, 499});
  const TriplePartition partition(graph, TripleClustering::none, std::vector<std::int32_t>{1}, 2, 1);
  CHECK(partition.triples(0).size() == 500);
  CHECK(partition.triples(1).size() == 499);
  CHECK(partition.relations(Rank{0}).empty());
  const auto first = partition.triples(0);
  const auto of_relation_0 =
      std::count_if(first.begin(), first.end(), [](const Triple& triple) { return triple.relation == 0; });
  CHECK(of_relation_0 > 200);
  CHECK(of_relation_0 < 300);
}
