#include "apps/knowledge_graph_embeddings/triple_batch.hpp"

namespace lapse::apps {

void TripleBatch::pull(Worker& worker, const EmbeddingTables& tables) {
  entity_pull_ = entities_.pull(worker, tables.entities);
  relation_pull_ = relations_.pull(worker, tables.relations);
}

double TripleBatch::train(Worker& worker, const EmbeddingTables& tables, TripleLoss& loss) {
  entity_pull_.wait();
  relation_pull_.wait();
  entities_.zero_gradients();
  relations_.zero_gradients();
  double sum = 0;
  const std::uint32_t* negative = negative_slots_.data();
  for (const Slots& triple : triples_) {
    for (EmbeddingRow& other : others_) other = entities_.row(*negative++);
    const std::span<const EmbeddingRow> others(others_);
    sum +=
        loss.add_gradients({entities_.row(triple.subject), relations_.row(triple.relation),
                            entities_.row(triple.object), others.first(negatives_), others.last(negatives_)});
  }
  entities_.push_gradients(worker, tables.entities);
  relations_.push_gradients(worker, tables.relations);
  return sum;
}

void TripleBatcher::fill(TripleBatch& batch, std::span<const Triple> triples) {
  std::vector<Key>& entities = batch.entities_.keys();
  std::vector<Key>& relations = batch.relations_.keys();
  entities.clear();
  relations.clear();
  batch.triples_.clear();
  batch.negative_slots_.clear();
  entity_slots_.start_batch();
  relation_slots_.start_batch();
  const auto entity_slot = [&](std::uint64_t id) { return entity_slots_.slot(Key{id}, entities); };
  for (const Triple& triple : triples) {
    batch.triples_.push_back({entity_slot(triple.subject),
                              relation_slots_.slot(Key{triple.relation}, relations),
                              entity_slot(triple.object)});
    for (std::size_t i = 0; i < 2 * negatives_; ++i)
      batch.negative_slots_.push_back(entity_slot(random_.below(entities_)));
  }
}

}  // namespace lapse::apps
