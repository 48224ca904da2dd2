// Batches of triples and their negatives.
#include "apps/knowledge_graph_embeddings/triple_batch.hpp"

#include <set>
#include <vector>

#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;

namespace {

constexpr std::uint64_t kEntities = 20;

std::vector<Key> keys_of(TripleBatch& batch) {
  return {batch.entities().begin(), batch.entities().end()};
}

}  // namespace

TEST_CASE("negatives are drawn uniformly among all entities") {
  const KnowledgeGraph graph = make_graph(kEntities, 1, {{0, 0, 0}});
  TripleBatcher batcher(graph, {.per_side = 1});
  TripleBatch batch;
  batcher.seed(5, 0);
  constexpr int kBatches = 20000;
  std::vector<int> batches_with(kEntities);
  for (int i = 0; i < kBatches; ++i) {
    batcher.fill(batch, graph.train);
    for (const Key key : batch.entities()) ++batches_with[key.index()];
  }
  CHECK(batches_with[0] == kBatches);
  // Two draws: an entity occurs with probability 1 - (19/20)^2 = 0.0975, in 1950 of the batches with a
  // standard deviation of 42.
  for (std::size_t entity = 1; entity < kEntities; ++entity) {
    CHECK(batches_with[entity] > 1950 - 5 * 42);
    CHECK(batches_with[entity] < 1950 + 5 * 42);
  }
}

TEST_CASE("the same seed and stream give the same negatives, others do not") {
  const KnowledgeGraph graph = make_graph(100000, 1, {{0, 0, 1}, {2, 0, 3}});
  TripleBatcher batcher(graph, {});
  TripleBatch batch;
  const auto draw = [&](std::uint64_t seed, std::uint64_t stream) {
    batcher.seed(seed, stream);
    batcher.fill(batch, graph.train);
    return keys_of(batch);
  };
  const std::vector<Key> keys = draw(1, 2);
  CHECK(keys.size() > 40);
  CHECK(draw(1, 2) == keys);
  CHECK(draw(1, 3) != keys);
  CHECK(draw(2, 2) != keys);
}

TEST_CASE("keys that occur several times are there once") {
  const KnowledgeGraph graph = make_graph(10, 1, {{0, 0, 1}, {1, 0, 0}, {0, 0, 0}});
  TripleBatcher batcher(graph, {.per_side = 50});
  TripleBatch batch;
  batcher.fill(batch, graph.train);
  const std::vector<Key> keys = keys_of(batch);
  CHECK(keys.size() == 10);
  CHECK(std::set<Key>(keys.begin(), keys.end()).size() == 10);
  batcher.fill(batch, {});
  CHECK(batch.entities().empty());
}

TEST_CASE("shared negatives are drawn once for a batch") {
  const KnowledgeGraph graph = make_graph(1000000, 1, std::vector<Triple>(50, {0, 0, 1}));
  const NegativeOptions shared{.per_side = 3, .shared = true};
  TripleBatcher batcher(graph, shared);
  TripleBatch batch;
  batcher.fill(batch, graph.train);
  CHECK(batch.entities().size() == 2 + 2 * 3);
}
