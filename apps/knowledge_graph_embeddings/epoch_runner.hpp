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

namespace lapse::apps {

// How parameters come to be local where they are used: by the methods of Lapse (Renz-Wieland et al., VLDB'20,
// sections 2.2 and 4.1, appendix A), or by those of AdaPM (CIKM'23, section 5.1).
enum class TrainingMode : std::uint8_t {
  classic,     // triples dealt out at random, nothing is localized: parameters stay where the tables put them
  clustering,  // triples clustered by relation, relations localized once to where their triples are
  latency_hiding,  // triples dealt out at random, entities localized ahead of their use
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

// Batches from announcing embeddings to their use, where no number is given: keys that are localized are to
// come just in time, the manager chooses the time itself. With all entities as negatives, batches are long
// and large, and few are made ahead.
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
  std::uint64_t seed = 1;  // of orders, negatives and dropout
  // The updates of all workers have one order: the result is the same in every run, bit for bit. Batches are
  // not pulled ahead, and workers push one after the other.
  bool deterministic = false;

  std::size_t batches_pulled_ahead() const { return deterministic ? 0 : prefetch; }
};

// Batches that embeddings are announced ahead of their use, where workers signal intents, or else localize;
// no later than they are pulled.
std::size_t lookahead_of(const RunnerOptions& options, bool signals);

// The data of one worker's runner; referred to, not copied.
struct WorkerTask {
  const EmbeddingTables& tables;
  const EmbeddingModel& model;
  const QueryForm& form;
  const KnowledgeGraph& graph;
  const TriplePartition& partition;
  std::size_t worker;  // its number in the partition
  adapm::Technique technique;
  const adapm::Sampler<float>* sampler;  // of negatives; null: drawn uniformly where batches are made
};

// Trains a worker's triples in batches, in another random order in every epoch. Each batch passes four
// stages, and many batches are on their way: the loader's thread makes it, and signals the intents for its
// embeddings if the mode has intents; where the mode localizes, the worker does so, `lookahead` batches
// ahead; `prefetch` batches before its turn its embeddings are pulled; then it is trained. The embeddings
// that a batch sees thus lack the updates of the `prefetch` batches before it, and what other workers push
// meanwhile. Workers that localize the same entity at the same time take it from each other; a worker that
// finds it gone accesses it by message.
//
// With a sampler the negatives of a batch are prepared when it is made and drawn when it is pulled, as the
// sampler's scheme says.
//
// A batch is a clock of the worker. An epoch can be run in parts: what a batch draws depends on its number
// alone.
//
// Belongs to one worker; every worker calls the same functions in the same order, each time with the Worker
// of the current phase.
class EpochRunner {
 public:
  // How far the worker is in an epoch.
  struct Position {
    std::size_t batches = 0;  // trained
    double loss = 0;          // their sum
  };

  EpochRunner(const WorkerTask& task, const RunnerOptions& options);

  // Before the first epoch: localizes the relations of the rank's triples, which stay local.
  void place(Worker& worker);
  // Trains each of the worker's triples once, from the position on, with this factor of the learning rate.
  // Epochs come in rising order.
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, float rate, Position& position,
           const ShallLeave& shall_leave = {});
  // Of an epoch.
  std::size_t batches() const { return (triples_.size() + options_.batch - 1) / options_.batch; }

 private:
  // How the embeddings of batches come near.
  enum class Announcement : std::uint8_t { none, localize_entities, localize_all, intent };

  static Announcement announcement_of(TrainingMode mode, adapm::Technique technique);
  bool localizes() const {
    return announcement_ == Announcement::localize_entities || announcement_ == Announcement::localize_all;
  }
  bool signals() const { return announcement_ == Announcement::intent; }
  // Every batch uses all entities, so that one intent names them all.
  bool uses_all_entities() const { return options_.negatives.sharing == NegativeSharing::all; }

  // Puts the triples in the order of an epoch, in which each order comes from the one before.
  void arrange(std::uint64_t epoch);
  std::uint64_t stream(std::uint64_t epoch) const {
    return 2 * (epoch * task_.partition.workers() + task_.worker);
  }
  // Of what one batch draws.
  std::uint64_t batch_seed(std::size_t number) const { return options_.seed + kGoldenGamma * number; }
  // By the loader's thread: makes the batch with this number.
  void make(TripleBatch& batch, std::size_t number, const adapm::IntentHandle& intents, Clock first);
  void signal(const TripleBatch& batch, const adapm::IntentHandle& intents, Clock start, Clock end) const;
  // By the worker.
  void localize(adapm::IntentWorker& worker, const TripleBatch& batch) const;
  void draw_negatives(adapm::IntentWorker& worker, TripleBatch& batch);

  WorkerTask task_;
  RunnerOptions options_;
  Announcement announcement_;
  std::size_t lookahead_;
  BatchTraining training_;
  TripleBatcher batcher_;  // the loader's, with a sampler the worker's
  std::vector<Triple> triples_;
  std::uint64_t epochs_arranged_ = 0;
  std::uint64_t epoch_ = 0;     // that runs
  std::vector<Key> negatives_;  // of the batch that is drawn
};

}  // namespace lapse::apps
