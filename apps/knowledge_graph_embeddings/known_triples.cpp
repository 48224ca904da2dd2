#include "apps/knowledge_graph_embeddings/known_triples.hpp"

#include <algorithm>
#include <utility>

namespace lapse::apps {

KnownTriples::KnownTriples(const KnowledgeGraph& graph)
    : indices_{make_index(Side::subject, graph), make_index(Side::object, graph)} {}

KnownTriples::Query KnownTriples::query(Side missing, const Triple& triple) {
  return {triple.relation, missing == Side::object ? triple.subject : triple.object};
}

KnownTriples::Index KnownTriples::make_index(Side missing, const KnowledgeGraph& graph) {
  std::vector<std::pair<Query, std::uint32_t>> entries;
  for (const auto* triples : {&graph.train, &graph.valid, &graph.test}) {
    for (const Triple& triple : *triples)
      entries.emplace_back(query(missing, triple), missing == Side::object ? triple.object : triple.subject);
  }
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  Index index;
  for (const auto& [asked, answer] : entries) {
    if (index.queries.empty() || index.queries.back() != asked) {
      index.queries.push_back(asked);
      index.begin.push_back(index.answers.size());
    }
    index.answers.push_back(answer);
  }
  index.begin.push_back(index.answers.size());
  return index;
}

std::span<const std::uint32_t> KnownTriples::answers(Side missing, const Triple& triple) const {
  const Index& index = indices_[static_cast<std::size_t>(missing)];
  const Query asked = query(missing, triple);
  const auto found = std::lower_bound(index.queries.begin(), index.queries.end(), asked);
  if (found == index.queries.end() || *found != asked) return {};
  const auto i = static_cast<std::size_t>(found - index.queries.begin());
  return std::span(index.answers).subspan(index.begin[i], index.begin[i + 1] - index.begin[i]);
}

}  // namespace lapse::apps
