// Training of a batch of triples.
#pragma once

#include <cstdint>
#include <vector>

#include "apps/knowledge_graph_embeddings/batch_rows.hpp"
#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/loss_options.hpp"
#include "apps/knowledge_graph_embeddings/shared_candidates_loss.hpp"
#include "apps/knowledge_graph_embeddings/triple_batch.hpp"
#include "apps/knowledge_graph_embeddings/triple_loss.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"

namespace lapse::apps {

// State that a worker reuses for the training of its batches. Belongs to one worker.
struct BatchTraining {
  BatchTraining(const EmbeddingModel& model, const LossOptions& options)
      : own_negatives(model, options), shared_negatives(model, options) {}

  // Seeds dropout.
  void seed(std::uint64_t seed, std::uint64_t stream) {
    own_negatives.seed(seed, stream);
    shared_negatives.seed(seed, stream);
  }

  TripleLoss own_negatives;
  SharedCandidatesLoss shared_negatives;
  float rate = 1;  // multiplies the learning rate
  std::vector<float> entity_gradients;
  std::vector<float> relation_gradients;
};

// State of a batch from its pull to its push, reused for the next batch. Belongs to one worker.
class BatchInFlight {
 public:
  BatchInFlight(const EmbeddingModel& model, const QueryForm& form, const NegativeOptions& negatives)
      : form_(form),
        negatives_(negatives),
        entities_(model.entity_length()),
        relations_(model.relation_length()),
        others_(2 * negatives.per_side) {}

  // Begins to pull the embeddings of a batch, which must stay unchanged until it is trained.
  void pull(Worker& worker, const EmbeddingTables& tables, const TripleBatch& batch);
  void wait() {
    entity_pull_.wait();
    relation_pull_.wait();
  }
  // Waits for the embeddings and computes the gradients of all triples. Returns the loss.
  double compute(BatchTraining& training);
  // Pushes the gradients.
  void push(Worker& worker, const EmbeddingTables& tables, const BatchTraining& training) const;

 private:
  double add_gradients(TripleLoss& loss);
  double add_gradients(SharedCandidatesLoss& loss);
  // Finds the rows of the negatives of the triple with this number.
  void find_others(std::size_t triple);

  QueryForm form_;
  NegativeOptions negatives_;
  const TripleBatch* batch_ = nullptr;
  BatchRows entities_;
  BatchRows relations_;
  std::vector<EmbeddingRow> others_;     // of the current triple
  std::vector<CandidateQuery> queries_;  // with shared negatives
  Operation entity_pull_;
  Operation relation_pull_;
};

}  // namespace lapse::apps
