#include "apps/knowledge_graph_embeddings/ranking.hpp"

#include <algorithm>
#include <cstddef>

namespace lapse::apps {

// Counts of entities by comparing their scores with the true entity's.
struct Places {
  std::uint64_t worse = 0;
  std::uint64_t equal = 0;
  std::uint64_t all = 0;

  void add(float score, float truth) {
    worse += score < truth ? 1 : 0;
    equal += score == truth ? 1 : 0;
    ++all;
  }
};

namespace {

// A block of queries and a block of candidates fit into the nearest caches together.
constexpr std::size_t kQueriesPerBlock = 32;
constexpr std::size_t kCandidatesPerBlock = 64;

void count(std::span<const float> scores, float truth, Places& places) {
  std::uint32_t worse = 0;
  std::uint32_t equal = 0;
  for (const float score : scores) {
    worse += score < truth ? 1U : 0U;
    equal += score == truth ? 1U : 0U;
  }
  places.worse += worse;
  places.equal += equal;
  places.all += scores.size();
}

std::span<const float> row(std::span<const float> values, std::uint32_t id, std::size_t length) {
  return values.subspan(id * length, length);
}

}  // namespace

struct Ranker::Query {
  Triple triple;
  Side side;          // the missing entity's
  TripleQuery asked;  // the query for it
  std::vector<float> query;
  float truth = 0;  // score of the triple
  Places places;    // of all entities, including the true one
};

void RankingSums::add(double rank) {
  values_[0] += 1;
  values_[1] += 1 / rank;
  values_[2] += rank <= 1 ? 1 : 0;
  values_[3] += rank <= 3 ? 1 : 0;
  values_[4] += rank <= 10 ? 1 : 0;
}

RankingMetrics RankingSums::metrics() const {
  const double ranks = values_[0];
  if (ranks == 0) return {};
  return {static_cast<std::uint64_t>(ranks), values_[1] / ranks, values_[2] / ranks, values_[3] / ranks,
          values_[4] / ranks};
}

std::vector<double> Ranker::ranks(std::span<const Triple> triples, const EmbeddingValues& values) const {
  std::vector<double> ranks;
  ranks.reserve(2 * triples.size());
  std::vector<Query> queries;
  while (!triples.empty()) {
    const auto block = triples.first(std::min(kQueriesPerBlock / 2, triples.size()));
    triples = triples.subspan(block.size());
    queries.clear();
    for (const Triple& triple : block) {
      for (const Side side : {Side::subject, Side::object}) {
        queries.push_back(
            {triple, side, form_.query(side, triple), std::vector<float>(model_.entity_length()), 0, {}});
        ask(queries.back(), values);
      }
    }
    compare(queries, values.entities);
    for (const Query& query : queries) ranks.push_back(filtered_rank(query, values));
  }
  return ranks;
}

void Ranker::ask(Query& query, const EmbeddingValues& values) const {
  const std::size_t length = model_.entity_length();
  model_.query(query.asked.missing, row(values.entities, query.asked.known, length),
               row(values.relations, query.asked.relation, model_.relation_length()), query.query);
  query.truth = model_.score(query.query, row(values.entities, query.asked.answer, length));
}

void Ranker::compare(std::span<Query> queries, std::span<const float> entities) const {
  const std::size_t length = model_.entity_length();
  std::array<float, kCandidatesPerBlock> buffer{};
  while (!entities.empty()) {
    const std::size_t candidates = std::min(kCandidatesPerBlock, entities.size() / length);
    const auto block = entities.first(candidates * length);
    const auto scores = std::span(buffer).first(candidates);
    for (Query& query : queries) {
      model_.scores(query.query, block, scores);
      count(scores, query.truth, query.places);
    }
    entities = entities.subspan(block.size());
  }
}

double Ranker::filtered_rank(const Query& query, const EmbeddingValues& values) const {
  Places true_ones;
  bool has_answer = false;
  for (const std::uint32_t entity : known_.answers(query.side, query.triple)) {
    has_answer |= entity == query.asked.answer;
    true_ones.add(model_.score(query.query, row(values.entities, entity, model_.entity_length())),
                  query.truth);
  }
  // A triple not in the graph counts as true, too.
  if (!has_answer) true_ones.add(query.truth, query.truth);
  const std::uint64_t others = query.places.all - true_ones.all;
  const std::uint64_t worse = query.places.worse - true_ones.worse;
  const std::uint64_t equal = query.places.equal - true_ones.equal;
  return 1 + static_cast<double>(others - worse - equal) + static_cast<double>(equal) / 2;
}

}  // namespace lapse::apps
