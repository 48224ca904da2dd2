// Trains embeddings of a knowledge graph on a parameter manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
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
  std::string tables = "embeddings";     // prefix of the tables' names; unique among the trainers of a server
  std::vector<std::int32_t> workers{1};  // by rank; a single number applies to every rank
  ModelOptions model;
  bool reciprocal = false;     // relations have inverses with their own embeddings, see QueryForm
  double initial_scale = 0.1;  // standard deviation of the initial embeddings
  OptimiserOptions optimiser;
  ScheduleOptions schedule;
  std::uint64_t epochs = 20;
  std::uint64_t evaluate_every = 10;  // epochs between evaluations; 0: none
  std::uint64_t seed = 1;             // for initial embeddings, partition, orders and negatives
  RunnerOptions runner;
  // For mode intent on several ranks; see sampling_scheme.
  std::optional<adapm::SamplingScheme> sampling = {};

  // Whether there is anything to minimize: the softmax of a triple without negatives is constant.
  bool has_loss() const {
    return runner.loss.kind != LossKind::softmax || runner.negatives.per_side != 0 ||
           runner.negatives.sharing == NegativeSharing::all;
  }

  // Throws ConfigurationError for invalid values or combinations.
  void check(std::int32_t ranks) const;
  // The same, for this graph.
  void check(const KnowledgeGraph& graph) const;
  // If more distinct shared negatives are requested than the graph has entities, uses all entities, and
  // returns a line for the user; else nullopt.
  std::optional<std::string> fit(const KnowledgeGraph& graph);
};

struct EpochRecord {
  std::uint64_t epoch = 0;               // from 1
  double loss = 0;                       // mean per triple with its negatives, at the time of its training
  std::optional<Evaluation> evaluation;  // after the epoch, if it was evaluated
  PhaseCost cost;                        // of training alone
};

// Used by the manager's thread. Every call is collective, and has the same effect on every rank, also on
// ranks without workers. Errors are thrown on every rank.
class Trainer {
 public:
  // Collective. Creates the tables, distributes the triples and places the relations. Manager and graph must
  // outlive the trainer. Requires the same graph on every rank. Throws ConfigurationError for invalid
  // options.
  Trainer(adapm::ParameterManager& manager, const KnowledgeGraph& graph, const TrainingOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Collective when it is called: sets the initial values of the tables. run() calls it before the first
  // epoch, unless it resumes from a checkpoint.
  void set_initial(std::function<void()> initial) { initial_ = std::move(initial); }

  // Collective. Trains for the epochs of the options; calls on_epoch on every rank after every epoch. With
  // patience, evaluates only on the validation triples, may end earlier, and finally restores the best
  // embeddings and evaluates them on the test triples. Throws Error if the training has diverged: see
  // require_healthy.
  // `job`, which may be null, saves checkpoints. If it resumes, the training continues from its checkpoint.
  // If it is to stop, the training returns, maybe in the middle of an epoch, and has_stopped().
  void run(const std::function<void(const EpochRecord&)>& on_epoch = {}, TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }

  // Collective. Trains one epoch, or the rest of it, without an evaluation.
  EpochRecord run_epoch();
  // Collective. Evaluates in parallel on all workers.
  Evaluation evaluate(Splits splits = {});

  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  // The epoch whose embeddings run() left in the tables, with its evaluation; null without an evaluation.
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
  // The largest loss of a triple if all scores are about 0.
  double loss_of_nothing() const;
  bool stops_early() const { return options_.schedule.patience != 0; }
  // Evaluates the last epoch.
  void evaluate_epoch();
  void restore_best();
  // Continues the unfinished epoch; returns whether it is finished now.
  bool run_part(TrainingJob* job);
  JobProgress progress() const;

  // Content of a checkpoint besides the tables.
  // Returns whether it resumes.
  bool begin(TrainingJob& job);
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
  std::size_t best_epoch_ = 0;                         // index of the best evaluated epoch
  std::optional<KeptEmbeddings> best_;                 // with patience
  std::vector<std::unique_ptr<EpochRunner>> runners_;  // by local index; each used by its worker alone
  // Of the unfinished epoch:
  std::vector<EpochRunner::Position> positions_;  // by local index
  PhaseCost part_cost_;                           // so far
  std::uint64_t part_clocks_ = 0;                 // batches of a worker on average, so far
  std::uint64_t clocks_ = 0;                      // the same, of earlier epochs
  std::function<void()> initial_;
  bool has_stopped_ = false;
};

}  // namespace lapse::apps
