// A graph with a structure that embeddings can learn.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/loading/shuffle.hpp"

namespace lapse::test {

// 64 entities in 8 groups of 8. Relation 0 connects different entities of a group, relation 1 each entity of
// a group with each of the next group, relation 2 the other direction. A tenth of the triples is held out for
// validation and a tenth for testing; a model that has learned the groups ranks them first.
inline apps::KnowledgeGraph planted_graph() {
  constexpr std::uint32_t kEntities = 64;
  std::vector<apps::Triple> triples;
  for (std::uint32_t s = 0; s < kEntities; ++s) {
    for (std::uint32_t o = 0; o < kEntities; ++o) {
      if (s / 8 == o / 8 && s != o) triples.push_back({s, 0, o});
      if (s / 8 + 1 == o / 8) triples.push_back({s, 1, o});
      if (s / 8 == o / 8 + 1) triples.push_back({s, 2, o});
    }
  }
  RandomEngine random(1);
  io::shuffle(std::span(triples), random);
  const auto tenth = static_cast<std::ptrdiff_t>(triples.size() / 10);
  const auto train_end = triples.end() - 2 * tenth;
  return apps::make_graph(kEntities, 3, {triples.begin(), train_end}, {train_end, train_end + tenth},
                          {train_end + tenth, triples.end()});
}

}  // namespace lapse::test
