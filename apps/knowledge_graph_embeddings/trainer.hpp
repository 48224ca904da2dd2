// Trains embeddings of a knowledge graph on a parameter manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/common/measured_phase.hpp"
#include "apps/common/training_job.hpp"
#include "apps/knowledge_graph_embeddings/embedding_tables.hpp"
#include "apps/knowledge_graph_embeddings/epoch_runner.hpp"
#include "apps/knowledge_graph_embeddings/evaluation.hpp"
#include "apps/knowledge_graph_embeddings/kept_embeddings.hpp"
#include "apps/knowledge_graph_embeddings/optimiser_options.hpp"
#include "apps/knowledge_graph_embeddings/training_schedule.hpp"
#include "apps/knowledge_graph_embeddings/triple_partition.hpp"
#include "apps/knowledge_graph_embeddings/triple_query.hpp"

namespace lapse::apps {

// The defaults suit WN18RR.
struct TrainingOptions {
  std::string tables = "embeddings";     // beginning of the tables' names; one trainer of a server has them
  std::vector<std::int32_t> workers{1};  // of each rank; a single number is that of every rank
  ModelOptions model;
  bool reciprocal = false;     // relations have inverses with embeddings of their own, see QueryForm
  double initial_scale = 0.1;  // standard deviation of the initial embeddings
  OptimiserOptions optimiser;
  ScheduleOptions schedule;
  std::uint64_t epochs = 20;
  std::uint64_t evaluate_every = 10;  // epochs from one evaluation to the next; 0: none
  std::uint64_t seed = 1;             // of initial embeddings, partition, orders and negatives
  RunnerOptions runner;
  // Mode intent, on several ranks; see sampling_scheme.
  std::optional<adapm::SamplingScheme> sampling = {};

  // Whether there is something to minimize: a triple without negatives has all of their softmax.
  bool has_loss() const {
    return runner.loss.kind != LossKind::softmax || runner.negatives.per_side != 0 ||
           runner.negatives.sharing == NegativeSharing::all;
  }

  // Throws ConfigurationError for values that make no sense, alone or together.
  void check(std::int32_t ranks) const;
  // The same for this graph.
  void check(const KnowledgeGraph& graph) const;
  // Where more different shared negatives are asked for than the graph has entities, takes all entities.
  // Returns a line for the user, or nothing.
  std::optional<std::string> fit(const KnowledgeGraph& graph);
};

struct EpochRecord {
  std::uint64_t epoch = 0;               // from 1
  double loss = 0;                       // mean per triple with its negatives, at the moment of its training
  std::optional<Evaluation> evaluation;  // after the epoch, if it was evaluated
  PhaseCost cost;                        // of training alone
};

// Used by the thread that owns the manager. Every call is collective, and has the same effect on every rank,
// also on ranks without workers; errors are thrown on every rank.
class Trainer {
 public:
  // Collective. Creates the tables, distributes the triples and places the relations. Manager and graph
  // must outlive the trainer; the graph is the same on every rank. Throws ConfigurationError for impossible
  // options.
  Trainer(adapm::ParameterManager& manager, const KnowledgeGraph& graph, const TrainingOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Collective. Trains for the epochs of the options; calls on_epoch on every rank after every epoch. With
  // patience, evaluates on the validation triples alone, perhaps ends earlier, and in the end restores the
  // best embeddings and evaluates them on the test triples. Throws Error when the training has diverged: see
  // require_healthy.
  // A job, which may be null, saves checkpoints; where it is to be resumed, the training goes on from there,
  // and where it is to stop, the training returns, perhaps in the middle of an epoch, and has stopped.
  void run(const std::function<void(const EpochRecord&)>& on_epoch = {}, TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }

  // Collective. One epoch, or what is left of it, without an evaluation.
  EpochRecord run_epoch();
  // Collective. In parallel over all workers.
  Evaluation evaluate(Splits splits = {});

  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  // The epoch after which the embeddings were as they are after run(), with its evaluation; null without one.
  const EpochRecord* evaluated() const;
  adapm::Technique technique() const { return manager_.options().technique; }
  const TrainingOptions& options() const { return options_; }
  const EmbeddingTables& tables() const { return tables_; }
  const EmbeddingModel& model() const { return *model_; }
  const QueryForm& form() const { return form_; }
  const TriplePartition& partition() const { return partition_; }

 private:
  std::optional<adapm::Sampler<float>> make_sampler();
  bool is_due(std::uint64_t epoch) const;
  // At most, of a triple, where all scores are about 0.
  double loss_of_nothing() const;
  bool stops_early() const { return options_.schedule.patience != 0; }
  // Of the last epoch.
  void evaluate_epoch();
  void restore_best();
  // Goes on in the epoch that is not finished; returns whether it is now.
  bool run_part(TrainingJob* job);
  JobProgress progress() const;

  // What a checkpoint has beside the tables.
  void begin(TrainingJob& job);
  RunIdentity identity() const;
  SavedState saved_state() const;
  void set_state(const SavedState& state);

  adapm::ParameterManager& manager_;
  const KnowledgeGraph& graph_;
  TrainingOptions options_;
  std::int32_t local_workers_;
  std::unique_ptr<const EmbeddingModel> model_;
  QueryForm form_;
  TriplePartition partition_;
  EmbeddingTables tables_;
  std::optional<adapm::Sampler<float>> sampler_;  // of negatives
  Evaluator evaluator_;
  TrainingSchedule schedule_;
  std::vector<EpochRecord> epochs_;
  std::size_t best_epoch_ = 0;                         // index of the best that was evaluated
  std::optional<KeptEmbeddings> best_;                 // with patience
  std::vector<std::unique_ptr<EpochRunner>> runners_;  // by local index; each used by its worker alone
  // Of the epoch that is not finished:
  std::vector<EpochRunner::Position> positions_;  // by local index
  PhaseCost part_cost_;                           // so far
  std::uint64_t part_clocks_ = 0;                 // batches of a worker on average, so far
  std::uint64_t clocks_ = 0;                      // the same, of the epochs before
  bool has_stopped_ = false;
};

}  // namespace lapse::apps
