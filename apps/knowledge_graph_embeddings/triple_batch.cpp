#include "apps/knowledge_graph_embeddings/triple_batch.hpp"

namespace lapse::apps {

void BatchInFlight::pull(Worker& worker, const EmbeddingTables& tables, const TripleBatch& batch) {
  batch_ = &batch;
  entity_pull_ = entities_.pull(worker, tables.entities, batch.entities());
  relation_pull_ = relations_.pull(worker, tables.relations, batch.relations());
}

double BatchInFlight::train(Worker& worker, const EmbeddingTables& tables, TripleLoss& loss) {
  entity_pull_.wait();
  relation_pull_.wait();
  entities_.zero_gradients();
  relations_.zero_gradients();
  double sum = 0;
  const std::span<const EmbeddingRow> others(others_);
  for (std::size_t i = 0; i < batch_->triples_.size(); ++i) {
    if (i == 0 || !negatives_.shared) find_others(i);
    const TripleBatch::Slots& triple = batch_->triples_[i];
    sum += loss.add_gradients({.subject = entities_.row(triple.subject),
                               .relation = relations_.row(triple.relation),
                               .object = entities_.row(triple.object),
                               .other_subjects = others.first(negatives_.per_side),
                               .other_objects = others.last(negatives_.per_side)});
  }
  entities_.push_gradients(worker, tables.entities, batch_->entities());
  relations_.push_gradients(worker, tables.relations, batch_->relations());
  return sum;
}

void BatchInFlight::find_others(std::size_t triple) {
  const auto slots = std::span(batch_->negative_slots_).subspan(triple * others_.size(), others_.size());
  for (std::size_t i = 0; i < slots.size(); ++i) others_[i] = entities_.row(slots[i]);
}

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
  const auto draw_negatives = [&] {
    for (std::size_t i = 0; i < 2 * negatives_.per_side; ++i)
      batch.negative_slots_.push_back(entity_slot(random_.below(entities_)));
  };
  for (const Triple& triple : triples) {
    batch.triples_.push_back({entity_slot(triple.subject),
                              relation_slots_.slot(Key{triple.relation}, relations),
                              entity_slot(triple.object)});
    if (!negatives_.shared) draw_negatives();
  }
  if (negatives_.shared) draw_negatives();
}

}  // namespace lapse::apps
