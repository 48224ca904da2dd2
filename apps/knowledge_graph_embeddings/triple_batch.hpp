// Triples that are trained together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/common/key_slots.hpp"
#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/triple_loss.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

struct NegativeOptions {
  std::size_t per_side = 10;  // of each triple: with another subject, and with another object
  // The triples of a batch have the same other entities, so that fewer embeddings are accessed.
  bool shared = false;
};

// Triples and their negatives: the keys of their embeddings, each once, and where each triple finds its own.
// Belongs to one worker.
class TripleBatch {
 public:
  std::span<const Key> entities() const { return entities_; }
  std::span<const Key> relations() const { return relations_; }

 private:
  friend class TripleBatcher;
  friend class BatchInFlight;

  struct Slots {
    std::uint32_t subject;
    std::uint32_t relation;
    std::uint32_t object;
  };

  std::vector<Key> entities_;
  std::vector<Key> relations_;
  std::vector<Slots> triples_;
  std::vector<std::uint32_t> negative_slots_;  // per triple, or of all: other subjects, then other objects
};

// The embeddings of one table that a batch uses, and their gradients. A key that occurs several times in a
// batch is pulled once, and its gradients are summed before they are pushed: one step of the optimiser for
// the batch.
class BatchRows {
 public:
  explicit BatchRows(std::size_t length) : length_(length) {}

  // Asynchronous; the values are valid when the operation has finished.
  Operation pull(Worker& worker, const Table<float>& table, std::span<const Key> keys) {
    values_.resize(keys.size() * length_);
    return worker.pull(table, keys, values_);
  }
  void zero_gradients() { gradients_.assign(values_.size(), 0.0F); }
  EmbeddingRow row(std::uint32_t slot) {
    return {values_.data() + slot * length_, gradients_.data() + slot * length_};
  }
  void push_gradients(Worker& worker, const Table<float>& table, std::span<const Key> keys) const {
    static_cast<void>(worker.push(table, keys, gradients_));
  }

 private:
  std::size_t length_;
  std::vector<float> values_;
  std::vector<float> gradients_;
};

// What the training of a batch needs from its pull to its push; for one batch after the other. Belongs to one
// worker.
class BatchInFlight {
 public:
  BatchInFlight(const EmbeddingModel& model, const NegativeOptions& negatives)
      : negatives_(negatives),
        entities_(model.entity_length()),
        relations_(model.relation_length()),
        others_(2 * negatives.per_side) {}

  // Starts to read the embeddings of a batch, which stays as it is until it is trained.
  void pull(Worker& worker, const EmbeddingTables& tables, const TripleBatch& batch);
  // Waits for the embeddings, computes the gradients of all triples at these embeddings and pushes them.
  // Returns the loss.
  double train(Worker& worker, const EmbeddingTables& tables, TripleLoss& loss);

 private:
  // Finds the rows of the negatives of the triple with this number.
  void find_others(std::size_t triple);

  NegativeOptions negatives_;
  const TripleBatch* batch_ = nullptr;
  BatchRows entities_;
  BatchRows relations_;
  std::vector<EmbeddingRow> others_;  // of the triple at hand
  Operation entity_pull_;
  Operation relation_pull_;
};

// Makes batches of triples: draws their negatives, uniformly among all entities, and collects their keys.
// The draws depend on seed and stream alone, and on the order of the triples. Belongs to one worker.
class TripleBatcher {
 public:
  TripleBatcher(const KnowledgeGraph& graph, const NegativeOptions& negatives)
      : entities_(graph.entities),
        negatives_(negatives),
        entity_slots_(graph.entities),
        relation_slots_(graph.relations) {}

  void seed(std::uint64_t seed, std::uint64_t stream) { random_ = RandomEngine(seed, stream); }
  void fill(TripleBatch& batch, std::span<const Triple> triples);

 private:
  std::uint64_t entities_;
  NegativeOptions negatives_;
  KeySlots entity_slots_;
  KeySlots relation_slots_;
  RandomEngine random_{0};
};

}  // namespace lapse::apps
