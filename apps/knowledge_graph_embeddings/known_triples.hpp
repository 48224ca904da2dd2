// Lookup of true triples.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"

namespace lapse::apps {

// All triples of a graph, held out or not, indexed by both sides. Immutable.
class KnownTriples {
 public:
  explicit KnownTriples(const KnowledgeGraph& graph);

  // The distinct entities that make this triple true at the side `missing`, ascending.
  std::span<const std::uint32_t> answers(Side missing, const Triple& triple) const;

 private:
  struct Query {
    std::uint32_t relation;
    std::uint32_t known;
    auto operator<=>(const Query&) const = default;
  };
  // The answers of queries[i] are answers[begin[i]] up to, not including, answers[begin[i + 1]].
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
