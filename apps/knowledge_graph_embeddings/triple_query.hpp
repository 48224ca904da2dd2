// Queries about triples.
#pragma once

#include <cstdint>

#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"

namespace lapse::apps {

// One entity of a triple is known, the other is the answer.
struct TripleQuery {
  std::uint32_t known = 0;
  std::uint32_t relation = 0;  // key of its embedding
  Side missing = Side::object;
  std::uint32_t answer = 0;
};

// How to query subjects: by the relation itself, whose embedding then serves both sides; or, with reciprocal
// relations, as objects of an inverse relation with its own embedding (Lacroix et al., ICML'18; Kazemi &
// Poole, NeurIPS'18). The inverse of relation r of R relations has the key R + r.
class QueryForm {
 public:
  QueryForm(std::uint64_t relations, bool reciprocal)
      : relations_(static_cast<std::uint32_t>(relations)), reciprocal_(reciprocal) {}

  bool reciprocal() const { return reciprocal_; }
  // The number of relation embeddings.
  std::uint64_t relation_keys() const {
    return reciprocal_ ? 2 * std::uint64_t{relations_} : std::uint64_t{relations_};
  }
  std::uint32_t inverse(std::uint32_t relation) const { return relations_ + relation; }

  TripleQuery query(Side asked, const Triple& triple) const {
    if (asked == Side::object) return {triple.subject, triple.relation, Side::object, triple.object};
    if (reciprocal_) return {triple.object, inverse(triple.relation), Side::object, triple.subject};
    return {triple.object, triple.relation, Side::subject, triple.subject};
  }

 private:
  std::uint32_t relations_;
  bool reciprocal_;
};

}  // namespace lapse::apps
