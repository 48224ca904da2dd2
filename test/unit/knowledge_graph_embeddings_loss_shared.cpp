// The loss of queries that share their candidates, and its gradients.
#include "apps/knowledge_graph_embeddings/shared_candidates_loss.hpp"

#include <optional>
#include <vector>

#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/triple_loss.hpp"
#include "test/support/catch.hpp"
#include "test/unit/knowledge_graph_embeddings_sample.hpp"

using namespace lapse::apps;
using lapse::test::check_gradients;
using lapse::test::EmbeddingSample;

namespace {

// Entities below `candidates` are candidates.
CandidateQuery make_query(EmbeddingSample& sample, std::uint32_t known, std::uint32_t answer, Side missing,
                          bool by_inverse, std::uint32_t candidates) {
  return {.known = sample.entity(known),
          .relation = by_inverse ? sample.inverse() : sample.relation(),
          .answer = sample.entity(answer),
          .missing = missing,
          .answer_candidate = answer < candidates ? std::optional(answer) : std::nullopt};
}

Candidates first_entities(EmbeddingSample& sample, std::size_t count) {
  return {std::span(sample.values).first(count * sample.entity_length),
          std::span(sample.gradients).first(count * sample.entity_length)};
}

}  // namespace

TEST_CASE("with shared candidates gradients are the derivatives of the loss") {
  const auto kind = GENERATE(ModelKind::complex, ModelKind::distmult, ModelKind::rescal, ModelKind::transe);
  const auto loss_kind = GENERATE(LossKind::logistic, LossKind::softmax);
  const auto [l2, n3, dropout] =
      GENERATE(table<double, double, double>({{0, 0, 0}, {0.3, 0, 0}, {0, 0.2, 0}, {0.1, 0.1, 0.4}}));
  const LossOptions options{
      .kind = loss_kind, .l2 = l2, .n3 = n3, .dropout = {.entity = dropout, .relation = dropout}};
  const bool reciprocal = GENERATE(false, true);
  CAPTURE(static_cast<int>(kind), static_cast<int>(loss_kind), l2, n3, dropout, reciprocal);
  const auto model = make_model({.kind = kind, .dimensions = 5, .margin = 1.5});
  constexpr std::uint32_t kCandidates = 3;
  EmbeddingSample sample(*model, 6, 11);
  // An answer that is a candidate, one that is not, and a candidate that is a known answer.
  const std::vector<Triple> triples{{4, 0, 1}, {5, 0, 4}, {2, 0, 5}};
  const auto queries = [&] {
    std::vector<CandidateQuery> all;
    for (const Triple& triple : triples) {
      all.push_back(make_query(sample, triple.subject, triple.object, Side::object, false, kCandidates));
      all.push_back(make_query(sample, triple.object, triple.subject,
                               reciprocal ? Side::object : Side::subject, reciprocal, kCandidates));
    }
    return all;
  }();
  const auto add_gradients = [&] {
    SharedCandidatesLoss loss(*model, options);
    loss.seed(3, 4);
    return loss.add_gradients(queries, first_entities(sample, kCandidates));
  };
  add_gradients();
  const std::vector<float> gradients = sample.gradients;
  check_gradients(sample, gradients, [&] {
    double sum = add_gradients();
    for (const CandidateQuery& query : queries) {
      if (query.missing == Side::subject) continue;
      const auto add = [&](const EmbeddingRow& row, std::size_t length) {
        sum += lapse::test::regularization(options, model->has_complex_numbers(), row.value, length);
      };
      add(query.known, model->entity_length());
      add(query.relation, model->relation_length());
      add(query.answer, model->entity_length());
    }
    return sum;
  });
}

TEST_CASE("a triple among shared candidates has the loss of the triple with these as its own negatives") {
  const auto kind = GENERATE(ModelKind::complex, ModelKind::transe);
  const auto loss_kind = GENERATE(LossKind::logistic, LossKind::softmax);
  const bool reciprocal = GENERATE(false, true);
  const auto model = make_model({.kind = kind, .dimensions = 7});
  EmbeddingSample own(*model, 6, 2);
  EmbeddingSample shared = own;
  const LossOptions options{.kind = loss_kind, .l2 = 0.1, .n3 = 0.1};
  const std::vector<EmbeddingRow> others{own.entity(0), own.entity(1), own.entity(2), own.entity(3)};
  const double expected = TripleLoss(*model, options)
                              .add_gradients({own.entity(4), own.relation(), own.entity(5), others, others,
                                              reciprocal ? own.inverse() : EmbeddingRow{}});
  const std::vector<CandidateQuery> queries{
      make_query(shared, 4, 5, Side::object, false, 4),
      make_query(shared, 5, 4, reciprocal ? Side::object : Side::subject, reciprocal, 4)};
  CHECK(SharedCandidatesLoss(*model, options).add_gradients(queries, first_entities(shared, 4)) ==
        Approx(expected).epsilon(1e-6));
  for (std::size_t i = 0; i < own.gradients.size(); ++i)
    CHECK(shared.gradients[i] == Approx(own.gradients[i]).margin(1e-6));
}

TEST_CASE("so many queries that their scores are computed in blocks have the sum of their losses") {
  const auto model = make_model({.kind = ModelKind::distmult, .dimensions = 1});
  constexpr std::uint32_t kEntities = 100000;
  EmbeddingSample sample(*model, kEntities, 2);
  const LossOptions options{.kind = LossKind::softmax, .l2 = 0};
  std::vector<CandidateQuery> queries;
  for (std::uint32_t i = 0; i < 40; ++i)
    queries.push_back(make_query(sample, i, i + 1, Side::object, false, kEntities));
  SharedCandidatesLoss loss(*model, options);
  double sum = 0;
  for (const CandidateQuery& query : queries)
    sum += loss.add_gradients(std::span(&query, 1), first_entities(sample, kEntities));
  CHECK(loss.add_gradients(queries, first_entities(sample, kEntities)) == Approx(sum));
}
