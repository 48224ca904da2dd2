// One worker's share of an epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "adapm/intent_worker.hpp"
#include "apps/common/agreed_rounds.hpp"
#include "apps/knowledge_graph_embeddings/batch_in_flight.hpp"
#include "apps/knowledge_graph_embeddings/embedding_model.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/loss_options.hpp"
#include "apps/knowledge_graph_embeddings/triple_batch.hpp"
#include "apps/knowledge_graph_embeddings/triple_partition.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"
#include "lapse/consistency/consistency.hpp"

namespace lapse::apps {

// How parameters become local to their users: methods of Lapse (Renz-Wieland et al., VLDB'20, sections 2.2
// and 4.1, appendix A) and AdaPM (CIKM'23, section 5.1).
enum class TrainingMode : std::uint8_t {
  classic,         // triples distributed at random, nothing is localized: parameters stay at their homes
  clustering,      // triples clustered by relation, relations localized once to the ranks of their triples
  latency_hiding,  // triples distributed at random, entities localized ahead of their use
  combined,        // triples clustered by relation, relations localized once, entities ahead of their use
  intent           // triples dealt out at random; workers signal intents, and the manager does the rest
};

constexpr TripleClustering clustering_of(TrainingMode mode) {
  const bool clusters = mode == TrainingMode::clustering || mode == TrainingMode::combined;
  return clusters ? TripleClustering::by_relation : TripleClustering::none;
}
constexpr bool localizes_entities(TrainingMode mode) {
  return mode == TrainingMode::latency_hiding || mode == TrainingMode::combined;
}

// Defaults of the number of batches from announcing embeddings to their use. Localized keys should arrive
// just in time; for intents, the manager chooses the time itself. With all entities as negatives, batches are
// long and large, so few are made ahead.
constexpr std::size_t kLocalizeAhead = 4;
constexpr std::size_t kSignalAhead = 200;
constexpr std::size_t kSignalLargeAhead = 16;

struct RunnerOptions {
  TrainingMode mode = TrainingMode::combined;
  std::size_t batch = 8;                 // triples whose embeddings are pulled and pushed together
  std::optional<std::size_t> lookahead;  // batches that embeddings are announced ahead of their use
  std::size_t prefetch = 1;              // batches whose embeddings are pulled ahead of their use
  NegativeOptions negatives;
  LossOptions loss;
  std::uint64_t seed = 1;                  // for orders, negatives and dropout
  std::optional<Consistency> consistency;  // with intents; empty: eventual
  // All updates have a fixed order, so that every run gives the same result, bit for bit. Batches are not
  // pulled ahead, and workers push one after the other.
  bool deterministic = false;

  std::size_t batches_pulled_ahead() const { return deterministic ? 0 : prefetch; }
};

// The number of batches that embeddings are announced ahead of their use, by intents if `signals`, else by
// localize; at least `prefetch`.
std::size_t lookahead_of(const RunnerOptions& options, bool signals);

// The data of one worker's runner, held by reference.
struct WorkerTask {
  const EmbeddingTables& tables;
  const EmbeddingModel& model;
  const QueryForm& form;
  const KnowledgeGraph& graph;
  const TriplePartition& partition;
  std::size_t worker;  // its number in the partition
  adapm::Technique technique;
  const adapm::Sampler<float>* sampler;  // of negatives; null: drawn uniformly when batches are made
};

// Trains a worker's triples in batches, in a new random order in every epoch. Batches pass four stages as a
// pipeline: the loader's thread makes the batch, and signals the intents for its embeddings if the mode has
// intents; if the mode localizes, the worker does so `lookahead` batches ahead; its embeddings are pulled
// `prefetch` batches before its turn; then it is trained. So a batch does not see the updates of the
// `prefetch` batches before it, nor concurrent pushes of other workers. Workers that localize the same entity
// at the same time take it from each other; a worker that finds it gone accesses it by message.
//
// With a sampler, the negatives of a batch are prepared when it is made and drawn when it is pulled, by the
// sampler's scheme.
//
// A batch is a clock of the worker. An epoch can be run in parts: the draws of a batch depend only on its
// number.
//
// Belongs to one worker. All workers call the same functions in the same order, with the Worker of the
// current phase.
class EpochRunner {
 public:
  // The worker's progress in an epoch.
  struct Position {
    std::size_t batches = 0;  // trained
    double loss = 0;          // their sum
  };

  EpochRunner(const WorkerTask& task, const RunnerOptions& options);

  // Called before the first epoch. Localizes the relations of the rank's triples permanently.
  void place(Worker& worker);
  // Trains each of the worker's triples once, starting at the position, with this factor of the learning
  // rate. Requires ascending epochs.
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, float rate, Position& position,
           const ShallLeave& shall_leave = {});
  // The number of batches of an epoch.
  std::size_t batches() const { return (triples_.size() + options_.batch - 1) / options_.batch; }

 private:
  // How the embeddings of batches become local.
  enum class Announcement : std::uint8_t { none, localize_entities, localize_all, intent };

  static Announcement announcement_of(TrainingMode mode, adapm::Technique technique);
  bool localizes() const {
    return announcement_ == Announcement::localize_entities || announcement_ == Announcement::localize_all;
  }
  bool signals() const { return announcement_ == Announcement::intent; }
  // Whether every batch uses all entities, so that one intent names them all.
  bool uses_all_entities() const { return options_.negatives.sharing == NegativeSharing::all; }

  // Puts the triples in the order of an epoch. Each order depends on the one before.
  void arrange(std::uint64_t epoch);
  std::uint64_t stream(std::uint64_t epoch) const {
    return 2 * (epoch * task_.partition.workers() + task_.worker);
  }
  // The seed of one batch's draws.
  std::uint64_t batch_seed(std::size_t number) const { return options_.seed + kGoldenGamma * number; }
  // Called by the loader's thread. Makes the batch with this number.
  void make(TripleBatch& batch, std::size_t number, const adapm::IntentHandle& intents, Clock first);
  void signal(const TripleBatch& batch, const adapm::IntentHandle& intents, Clock start, Clock end) const;
  // Called by the worker.
  void localize(adapm::IntentWorker& worker, const TripleBatch& batch) const;
  void draw_negatives(adapm::IntentWorker& worker, TripleBatch& batch);

  WorkerTask task_;
  RunnerOptions options_;
  Announcement announcement_;
  std::size_t lookahead_;
  BatchTraining training_;
  TripleBatcher batcher_;  // used by the loader; with a sampler, by the worker
  std::vector<Triple> triples_;
  std::uint64_t epochs_arranged_ = 0;
  std::uint64_t epoch_ = 0;     // the current epoch
  std::vector<Key> negatives_;  // of the batch being drawn
};

}  // namespace lapse::apps
