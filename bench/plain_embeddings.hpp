// Trains embeddings of a knowledge graph in one thread, without a server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/common/key_slots.hpp"
#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/knowledge_graph.hpp"
#include "apps/knowledge_graph_embeddings/trainer.hpp"
#include "apps/knowledge_graph_embeddings/triple_loss.hpp"
#include "lapse/core/random.hpp"
#include "lapse/store/update_rules/update_kernel.hpp"

namespace lapse::bench {

// Does the same arithmetic as the server's workers: batches, negatives, loss, and one step of Adagrad for
// each embedding of a batch. Reads the embeddings in place, in arrays. A single worker that pulls nothing
// ahead (prefetch 0) has the same losses, bit for bit.
class PlainEmbeddings {
 public:
  // Graph and model must outlive the object.
  PlainEmbeddings(const apps::KnowledgeGraph& graph, const apps::EmbeddingModel& model,
                  const apps::TrainingOptions& options);

  // Trains each triple once. Returns the mean loss.
  double run_epoch();

 private:
  // The embeddings of entities or relations, and gradients of those that a batch uses.
  class Rows {
   public:
    Rows(std::uint64_t keys, std::size_t length, const apps::TrainingOptions& options, std::uint64_t seed);

    void start_batch();
    // The position of the key's gradient in the batch.
    std::uint32_t slot(std::uint64_t key) { return slots_.slot(Key(key), keys_); }
    void zero_gradients() { gradients_.assign(keys_.size() * length_, 0.0F); }
    apps::EmbeddingRow row(std::uint32_t slot) {
      return {value(keys_[slot]), gradients_.data() + slot * length_};
    }
    // Makes a step of the optimiser for each key of the batch.
    void apply_gradients();

   private:
    float* value(Key key) { return values_.data() + 2 * key.index() * length_; }

    std::size_t length_;
    UpdateKernel rule_;
    std::vector<float> values_;  // each value, followed by its accumulators
    apps::KeySlots slots_;
    std::vector<Key> keys_;  // of the batch
    std::vector<float> gradients_;
  };

  double train(std::span<const apps::Triple> batch, RandomEngine& random);

  const apps::KnowledgeGraph& graph_;
  apps::RunnerOptions options_;
  apps::TripleLoss loss_;
  Rows entities_;
  Rows relations_;
  std::vector<apps::Triple> triples_;
  std::vector<std::uint32_t> slots_;  // of each triple: subject, relation, object, then its negatives
  std::vector<apps::EmbeddingRow> others_;
  std::uint64_t epochs_ = 0;
};

}  // namespace lapse::bench
