#include "apps/knowledge_graph_embeddings/triple_batch.hpp"

namespace lapse::apps {

void TripleBatcher::fill(TripleBatch& batch, std::span<const Triple> triples) {
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
  const bool shares = negatives_.sharing != NegativeSharing::none;
  if (shares && !triples.empty()) add_shared_negatives(entities);
  batch.shared_ = static_cast<std::uint32_t>(entities.size());
  const std::size_t own_negatives = shares ? 0 : 2 * negatives_.per_side;
  for (const Triple& triple : triples) {
    // Braces evaluate in this order, in which new keys get their slots.
    batch.triples_.push_back({entity_slot(triple.subject), relation_slot(triple.relation),
                              entity_slot(triple.object),
                              form_.reciprocal() ? relation_slot(form_.inverse(triple.relation)) : 0});
    for (std::size_t i = 0; i < own_negatives; ++i)
      batch.negative_slots_.push_back(entity_slot(random_.below(entities_)));
  }
}

void TripleBatcher::add_shared_negatives(std::vector<Key>& keys) {
  if (negatives_.sharing == NegativeSharing::all) {
    for (std::uint64_t entity = 0; entity < entities_; ++entity) entity_slots_.slot(Key{entity}, keys);
    return;
  }
  while (keys.size() < negatives_.per_side) entity_slots_.slot(Key{random_.below(entities_)}, keys);
}

}  // namespace lapse::apps
