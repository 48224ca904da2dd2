// Ranks of true entities, and the measures computed from them.
#include "apps/knowledge_graph_embeddings/ranking.hpp"

#include <limits>
#include <vector>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using namespace lapse::apps;

namespace {

// Entities with one number each: for subject and relation 1, an object's score is its number.
struct Scene {
  Scene(std::vector<float> numbers, std::vector<Triple> train)
      : entities(std::move(numbers)),
        graph(make_graph(entities.size(), 1, std::move(train))),
        known(graph),
        model(make_model({.kind = ModelKind::distmult, .dimensions = 1})) {}

  // of the object
  double rank(const Triple& triple) const {
    return Ranker(*model, QueryForm(1, false), known).ranks(std::vector{triple}, {entities, relation}).at(1);
  }

  std::vector<float> entities;
  std::vector<float> relation{1};
  KnowledgeGraph graph;
  KnownTriples known;
  std::unique_ptr<const EmbeddingModel> model;
};

}  // namespace

TEST_CASE("the rank is one more than the number of better entities") {
  const Scene scene({1, 5, 4, 3, 2}, {{0, 0, 0}});
  CHECK(scene.rank({0, 0, 1}) == 1);
  CHECK(scene.rank({0, 0, 2}) == 2);
  CHECK(scene.rank({0, 0, 4}) == 4);
}

TEST_CASE("other true triples do not count, of any split, but the triple itself does") {
  Scene scene({1, 5, 4, 3, 2}, {{0, 0, 1}, {0, 0, 1}, {3, 0, 2}});
  CHECK(scene.rank({0, 0, 4}) == 3);
  scene.graph.test = {{0, 0, 4}};
  scene.graph.valid = {{0, 0, 2}};
  scene.known = KnownTriples(scene.graph);
  CHECK(scene.rank({0, 0, 4}) == 2);
  CHECK(scene.rank({0, 0, 1}) == 1);
}

TEST_CASE("entities with equal scores share the mean of their positions, filtered entities excepted") {
  const Scene scene({1, 5, 2, 2, 2, 0}, {{0, 0, 0}});
  CHECK(scene.rank({0, 0, 1}) == 1);
  CHECK(scene.rank({0, 0, 2}) == 3);
  CHECK(scene.rank({0, 0, 3}) == 3);
  const Scene filtered({1, 5, 2, 2, 2, 0}, {{0, 0, 3}});
  CHECK(filtered.rank({0, 0, 2}) == 2.5);
  const Scene all_equal(std::vector<float>(101, 1), {{0, 0, 0}});
  CHECK(all_equal.rank({0, 0, 7}) == 50.5);
}

TEST_CASE("scores that are no numbers are never good") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Scene others({1, nan, 2, nan}, {{0, 0, 3}});
  CHECK(others.rank({0, 0, 2}) == 2);
  CHECK(others.rank({0, 0, 1}) == 3);
}

TEST_CASE("ranks are those of a plain count, for subjects and objects") {
  const auto kind = GENERATE(ModelKind::complex, ModelKind::rescal, ModelKind::transe);
  const auto model = make_model({.kind = kind, .dimensions = 4});
  constexpr std::uint32_t kEntities = 150;
  lapse::RandomEngine random(2);
  const auto random_triples = [&](std::size_t count) {
    std::vector<Triple> triples(count);
    for (Triple& triple : triples) {
      triple = {static_cast<std::uint32_t>(random.below(kEntities)),
                static_cast<std::uint32_t>(random.below(2)),
                static_cast<std::uint32_t>(random.below(kEntities))};
    }
    return triples;
  };
  const KnowledgeGraph graph =
      make_graph(kEntities, 2, random_triples(3000), random_triples(10), random_triples(40));
  std::vector<float> entities(kEntities * model->entity_length());
  const bool reciprocal = GENERATE(false, true);
  const QueryForm form(2, reciprocal);
  std::vector<float> relations(form.relation_keys() * model->relation_length());
  for (auto* values : {&entities, &relations})
    for (float& value : *values) value = static_cast<float>(random.uniform() - 0.5);

  const auto is_true = [&](const Triple& triple) {
    for (const auto* triples : {&graph.train, &graph.valid, &graph.test})
      if (std::find(triples->begin(), triples->end(), triple) != triples->end()) return true;
    return false;
  };
  const KnownTriples known(graph);
  const std::vector<double> ranks = Ranker(*model, form, known).ranks(graph.test, {entities, relations});
  REQUIRE(ranks.size() == 2 * graph.test.size());
  std::vector<float> query(model->entity_length());
  const auto row = [&](const std::vector<float>& values, std::uint32_t id, std::size_t length) {
    return std::span(values).subspan(id * length, length);
  };
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Side missing = i % 2 == 0 ? Side::subject : Side::object;
    const Triple& test = graph.test[i / 2];
    std::uint32_t Triple::*const asked = missing == Side::subject ? &Triple::subject : &Triple::object;
    const std::uint32_t given = missing == Side::subject ? test.object : test.subject;
    const bool by_inverse = reciprocal && missing == Side::subject;
    model->query(by_inverse ? Side::object : missing, row(entities, given, model->entity_length()),
                 row(relations, test.relation + (by_inverse ? 2 : 0), model->relation_length()), query);
    const float truth = model->score(query, row(entities, test.*asked, model->entity_length()));
    double rank = 1;
    for (std::uint32_t e = 0; e < kEntities; ++e) {
      Triple other = test;
      other.*asked = e;
      if (other != test && !is_true(other) &&
          model->score(query, row(entities, e, model->entity_length())) > truth)
        ++rank;
    }
    CHECK(ranks[i] == rank);
  }
}

TEST_CASE("averages over ranks") {
  RankingSums sums;
  CHECK(sums.metrics().mean_reciprocal_rank == 0);
  for (const double rank : {1.0, 2.0, 3.5, 20.0}) sums.add(rank);
  const RankingMetrics metrics = sums.metrics();
  CHECK(metrics.ranks == 4);
  CHECK(metrics.mean_reciprocal_rank == Approx((1 + 0.5 + 1 / 3.5 + 0.05) / 4));
  CHECK(metrics.hits_at_1 == 0.25);
  CHECK(metrics.hits_at_3 == 0.5);
  CHECK(metrics.hits_at_10 == 0.75);
}
