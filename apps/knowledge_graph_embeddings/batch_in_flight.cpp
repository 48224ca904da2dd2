#include "apps/knowledge_graph_embeddings/batch_in_flight.hpp"

#include <optional>
#include <span>

namespace lapse::apps {

void BatchInFlight::pull(Worker& worker, const EmbeddingTables& tables, const TripleBatch& batch) {
  batch_ = &batch;
  entity_pull_ = entities_.pull(worker, tables.entities, batch.entities());
  relation_pull_ = relations_.pull(worker, tables.relations, batch.relations());
}

double BatchInFlight::compute(BatchTraining& training) {
  wait();
  entities_.zero_gradients(training.entity_gradients);
  relations_.zero_gradients(training.relation_gradients);
  return negatives_.sharing == NegativeSharing::none ? add_gradients(training.own_negatives)
                                                     : add_gradients(training.shared_negatives);
}

void BatchInFlight::push(Worker& worker, const EmbeddingTables& tables, const BatchTraining& training) const {
  entities_.push_gradients(worker, tables.entities, batch_->entities(), training.rate);
  relations_.push_gradients(worker, tables.relations, batch_->relations(), training.rate);
}

double BatchInFlight::add_gradients(TripleLoss& loss) {
  double sum = 0;
  const std::span<const EmbeddingRow> others(others_);
  for (std::size_t i = 0; i < batch_->triples_.size(); ++i) {
    find_others(i);
    const TripleBatch::Slots& triple = batch_->triples_[i];
    TripleSample sample{.subject = entities_.row(triple.subject),
                        .relation = relations_.row(triple.relation),
                        .object = entities_.row(triple.object),
                        .other_subjects = others.first(negatives_.per_side),
                        .other_objects = others.last(negatives_.per_side)};
    if (form_.reciprocal()) sample.inverse_relation = relations_.row(triple.inverse_relation);
    sum += loss.add_gradients(sample);
  }
  return sum;
}

double BatchInFlight::add_gradients(SharedCandidatesLoss& loss) {
  const std::uint32_t shared = batch_->shared_;
  const auto add_query = [&](std::uint32_t known, std::uint32_t relation, Side missing,
                             std::uint32_t answer) {
    queries_.push_back({.known = entities_.row(known),
                        .relation = relations_.row(relation),
                        .answer = entities_.row(answer),
                        .missing = missing,
                        .answer_candidate = answer < shared ? std::optional(answer) : std::nullopt});
  };
  queries_.clear();
  for (const TripleBatch::Slots& triple : batch_->triples_) {
    add_query(triple.subject, triple.relation, Side::object, triple.object);
    if (form_.reciprocal()) {
      add_query(triple.object, triple.inverse_relation, Side::object, triple.subject);
    } else {
      add_query(triple.object, triple.relation, Side::subject, triple.subject);
    }
  }
  return loss.add_gradients(queries_, {entities_.first_values(shared), entities_.first_gradients(shared)});
}

void BatchInFlight::find_others(std::size_t triple) {
  const auto slots = std::span(batch_->negative_slots_).subspan(triple * others_.size(), others_.size());
  for (std::size_t i = 0; i < slots.size(); ++i) others_[i] = entities_.row(slots[i]);
}

}  // namespace lapse::apps
