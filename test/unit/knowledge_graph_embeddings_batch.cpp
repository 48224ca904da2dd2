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

void fill(TripleBatcher& batcher, TripleBatch& batch, std::span<const Triple> triples) {
  batch.triples = triples;
  batcher.fill(batch);
}

}  // namespace

TEST_CASE("negatives are drawn uniformly among all entities") {
  const KnowledgeGraph graph = make_graph(kEntities, 1, {{0, 0, 0}});
  TripleBatcher batcher(graph, QueryForm(graph.relations, false), {.per_side = 1});
  TripleBatch batch;
  batcher.seed(5, 0);
  constexpr int kBatches = 20000;
  std::vector<int> batches_with(kEntities);
  for (int i = 0; i < kBatches; ++i) {
    fill(batcher, batch, graph.train);
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
  TripleBatcher batcher(graph, QueryForm(graph.relations, false), {});
  TripleBatch batch;
  const auto draw = [&](std::uint64_t seed, std::uint64_t stream) {
    batcher.seed(seed, stream);
    fill(batcher, batch, graph.train);
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
  TripleBatcher batcher(graph, QueryForm(graph.relations, false), {.per_side = 50});
  TripleBatch batch;
  fill(batcher, batch, graph.train);
  const std::vector<Key> keys = keys_of(batch);
  CHECK(keys.size() == 10);
  CHECK(std::set<Key>(keys.begin(), keys.end()).size() == 10);
  fill(batcher, batch, {});
  CHECK(batch.entities().empty());
}

TEST_CASE("shared negatives are different entities, drawn once for a batch") {
  const KnowledgeGraph graph = make_graph(1000000, 1, std::vector<Triple>(50, {0, 0, 1}));
  const NegativeOptions shared{.per_side = 30, .sharing = NegativeSharing::batch};
  TripleBatcher batcher(graph, QueryForm(1, false), shared);
  TripleBatch batch;
  fill(batcher, batch, graph.train);
  CHECK(batch.entities().size() == 30 + 2);
  const KnowledgeGraph small = make_graph(30, 1, {{0, 0, 1}});
  TripleBatcher all(small, QueryForm(1, false), shared);
  fill(all, batch, small.train);
  CHECK(batch.entities().size() == 30);
  fill(all, batch, {});
  CHECK(batch.entities().empty());
}

TEST_CASE("all entities as negatives are all keys, in their order") {
  const KnowledgeGraph graph = make_graph(7, 2, {{3, 1, 5}, {6, 0, 0}});
  TripleBatcher batcher(graph, QueryForm(2, false), {.sharing = NegativeSharing::all});
  TripleBatch batch;
  fill(batcher, batch, graph.train);
  CHECK(keys_of(batch) == std::vector<Key>{Key{0}, Key{1}, Key{2}, Key{3}, Key{4}, Key{5}, Key{6}});
}

TEST_CASE("with reciprocal relations a batch has the inverse of each of its relations") {
  const KnowledgeGraph graph = make_graph(7, 4, {{3, 1, 5}, {6, 3, 0}, {0, 1, 2}});
  TripleBatcher batcher(graph, QueryForm(4, true), {.per_side = 1});
  TripleBatch batch;
  fill(batcher, batch, graph.train);
  const std::vector<Key> relations(batch.relations().begin(), batch.relations().end());
  CHECK(relations == std::vector<Key>{Key{1}, Key{5}, Key{3}, Key{7}});
}

TEST_CASE("a subject is asked for by its relation, or by the inverse relation") {
  const Triple triple{3, 1, 5};
  const TripleQuery plain = QueryForm(4, false).query(Side::subject, triple);
  CHECK(plain.known == 5);
  CHECK(plain.relation == 1);
  CHECK(plain.missing == Side::subject);
  CHECK(plain.answer == 3);
  const QueryForm form(4, true);
  const TripleQuery inverse = form.query(Side::subject, triple);
  CHECK(inverse.known == 5);
  CHECK(inverse.relation == 5);
  CHECK(inverse.missing == Side::object);
  CHECK(inverse.answer == 3);
  CHECK(form.query(Side::object, triple).relation == 1);
  CHECK(form.relation_keys() == 8);
}

TEST_CASE("given negatives take the place of drawn ones") {
  const KnowledgeGraph graph = make_graph(20, 2, {{3, 1, 5}, {6, 0, 3}});
  TripleBatcher own(graph, QueryForm(2, false), {.per_side = 1});
  CHECK(own.count(2) == 4);
  TripleBatch batch;
  batch.triples = graph.train;
  own.collect(batch);
  CHECK(keys_of(batch) == std::vector<Key>{Key{3}, Key{5}, Key{6}, Key{3}});
  own.fill(batch, std::vector<Key>{Key{7}, Key{5}, Key{9}, Key{3}});
  CHECK(keys_of(batch) == std::vector<Key>{Key{3}, Key{5}, Key{7}, Key{6}, Key{9}});
  TripleBatcher shared(graph, QueryForm(2, false), {.per_side = 3, .sharing = NegativeSharing::batch});
  CHECK(shared.count(2) == 3);
  shared.fill(batch, std::vector<Key>{Key{7}, Key{5}, Key{9}});
  CHECK(keys_of(batch) == std::vector<Key>{Key{7}, Key{5}, Key{9}, Key{3}, Key{6}});
}
