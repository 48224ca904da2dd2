// Lookup of true triples.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"

namespace lapse::apps {

// All triples of a graph, held out or not, by the two entities' sides. Immutable.
class KnownTriples {
 public:
  explicit KnownTriples(const KnowledgeGraph& graph);

  // The different entities that make a true triple at the side `missing` of this one, ascending.
  std::span<const std::uint32_t> answers(Side missing, const Triple& triple) const;

 private:
  struct Query {
    std::uint32_t relation;
    std::uint32_t known;
    auto operator<=>(const Query&) const = default;
  };
  // queries[i] is answered by answers[begin[i]] to answers[begin[i + 1]].
  struct Index {
    std::vector<Query> queries;
    std::vector<std::size_t> begin;
    std::vector<std::uint32_t> answers;
  };

  static Query query(Side missing, const Triple& triple);
  static Index make_index(Side missing, const KnowledgeGraph& graph);

  std::array<Index, 2> indices_;  // by side
};

}  // namespace lapse::apps
