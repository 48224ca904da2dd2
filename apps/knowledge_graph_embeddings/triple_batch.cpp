#include "apps/knowledge_graph_embeddings/triple_batch.hpp"

namespace lapse::apps {

void TripleBatcher::fill(TripleBatch& batch) {
  fill_with(batch, [&] { return Key{random_.below(entities_)}; });
}

void TripleBatcher::fill(TripleBatch& batch, std::span<const Key> negatives) {
  fill_with(batch, [next = negatives.begin()]() mutable { return *next++; });
}

void TripleBatcher::collect(TripleBatch& batch) const {
  batch.entities_.clear();
  batch.relations_.clear();
  for (const Triple& triple : batch.triples) {
    batch.entities_.emplace_back(triple.subject);
    batch.entities_.emplace_back(triple.object);
    batch.relations_.emplace_back(triple.relation);
    if (form_.reciprocal()) batch.relations_.emplace_back(form_.inverse(triple.relation));
  }
}

std::size_t TripleBatcher::count(std::size_t triples) const {
  switch (negatives_.sharing) {
    case NegativeSharing::all:
      return 0;
    case NegativeSharing::batch:
      return negatives_.per_side;
    case NegativeSharing::none:
      break;
  }
  return 2 * negatives_.per_side * triples;
}

template <class Draw>
void TripleBatcher::fill_with(TripleBatch& batch, Draw&& draw) {
  std::vector<Key>& entities = batch.entities_;
  std::vector<Key>& relations = batch.relations_;
  entities.clear();
  relations.clear();
  batch.triples_.clear();
  batch.negative_slots_.clear();
  entity_slots_.start_batch();
  relation_slots_.start_batch();
  const auto entity_slot = [&](std::uint64_t id) { return entity_slots_.slot(Key{id}, entities); };
  const auto relation_slot = [&](std::uint64_t id) { return relation_slots_.slot(Key{id}, relations); };
  if (!batch.triples.empty()) {
    if (negatives_.sharing == NegativeSharing::all)
      for (std::uint64_t entity = 0; entity < entities_; ++entity) entity_slot(entity);
    if (negatives_.sharing == NegativeSharing::batch)
      while (entities.size() < negatives_.per_side) entity_slots_.slot(draw(), entities);
  }
  batch.shared_ = static_cast<std::uint32_t>(entities.size());
  const std::size_t own_negatives = negatives_.sharing == NegativeSharing::none ? 2 * negatives_.per_side : 0;
  for (const Triple& triple : batch.triples) {
    // Braces evaluate in order, so new keys get their slots in this order.
    batch.triples_.push_back({entity_slot(triple.subject), relation_slot(triple.relation),
                              entity_slot(triple.object),
                              form_.reciprocal() ? relation_slot(form_.inverse(triple.relation)) : 0});
    for (std::size_t i = 0; i < own_negatives; ++i)
      batch.negative_slots_.push_back(entity_slots_.slot(draw(), entities));
  }
}

}  // namespace lapse::apps
