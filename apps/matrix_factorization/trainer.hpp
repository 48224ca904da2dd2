// Trains a matrix factorization on a parameter manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/common/measured_phase.hpp"
#include "apps/common/training_job.hpp"
#include "apps/matrix_factorization/epoch_runner.hpp"
#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/learning_rate.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/ranking/pair_trainer.hpp"
#include "apps/matrix_factorization/ranking/ranking_loss.hpp"
#include "apps/matrix_factorization/ranking/ranking_quality.hpp"
#include "apps/matrix_factorization/ranking/user_items.hpp"
#include "apps/matrix_factorization/schedule.hpp"
#include "apps/matrix_factorization/update_rule_options.hpp"

namespace lapse::apps {

// The defaults suit MovieTweetings.
struct TrainingOptions {
  std::string table = "factors";         // name of the table; unique among the trainers of a server
  std::vector<std::int32_t> workers{1};  // by rank; a single number applies to every rank
  std::uint64_t rank = 16;               // factors of each row and column
  bool biases = true;
  double initial_scale = 0.005;  // initial factors are uniform in [-scale, scale)
  double l2_factors = 0.08;
  double l2_biases = 0.02;
  UpdateRuleOptions update_rule;
  LearningRateOptions learning_rate;
  std::uint64_t epochs = 50;
  std::uint64_t patience = 3;        // epochs without a better test error that end the training; 0: never
  std::uint64_t evaluate_every = 1;  // epochs between evaluations; 0: none
  std::uint64_t seed = 1;            // for initial factors and orders
  RunnerOptions runner;
  RankingOptions ranking;
  // Requires a mode whose result is equal in every run; a resumed run needs the same number of workers.
  bool deterministic = false;

  // Throws ConfigurationError for invalid values or combinations.
  void check(std::int32_t ranks) const;
};

// Root mean square errors.
struct Errors {
  double train_rmse = 0;
  std::optional<double> test_rmse;  // of the held-out cells, if any
};

struct EpochRecord {
  std::uint64_t epoch = 0;  // from 1
  double learning_rate = 0;
  std::optional<Errors> errors;  // after the epoch, if it was evaluated; of the squared loss
  PhaseCost cost;                // of training alone
  // Of a loss that ranks items: the mean over the interactions while they were trained; and the quality after
  // the epoch, if it was evaluated, which has no users without held-out interactions.
  std::optional<double> train_loss = {};
  std::optional<RankingQuality> quality = {};

  // What the best epoch has least of, if this one was evaluated: the test error, or minus the NDCG; without
  // held-out cells the training error, or loss.
  std::optional<double> deciding_loss() const;
};

// Used by the manager's thread. Every call is collective, and has the same effect on every rank, also on
// ranks without workers. Errors are thrown on every rank.
class Trainer {
 public:
  // Collective. Creates the table, distributes the cells and places the factors. Manager and problem must
  // outlive the trainer. Requires an equal problem on every rank. Throws ConfigurationError for invalid
  // options.
  Trainer(adapm::ParameterManager& manager, const FactorizationProblem& problem,
          const TrainingOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Collective when it is called: sets the initial values of the tables. run() calls it before the first
  // epoch, unless it resumes from a checkpoint.
  void set_initial(std::function<void()> initial) { initial_ = std::move(initial); }

  // Collective. Trains until the options end it; calls on_epoch on every rank after every epoch. Throws Error
  // if the training has diverged: see require_healthy. `job`, which may be null, saves checkpoints. If it
  // resumes, the training continues from its checkpoint. If it is to stop, the training returns after the
  // epoch, and has_stopped().
  void run(const std::function<void(const EpochRecord&)>& on_epoch = {}, TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }

  // Collective. Trains one epoch, without an evaluation.
  EpochRecord run_epoch();
  // Collective. Evaluates in parallel on all workers. For the squared loss.
  Errors evaluate();
  // The same for losses that rank items: the model's rankings, and the list of the most popular items.
  RankingQuality evaluate_ranking();
  RankingQuality evaluate_popularity();

  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  // Of the evaluated epochs, the one with the least deciding_loss().
  const EpochRecord* best() const;
  adapm::Technique technique() const { return manager_.options().technique; }
  const TrainingOptions& options() const { return options_; }
  const FactorTable& factors() const { return factors_; }
  const FactorModel& model() const { return model_; }
  const BlockSchedule& schedule() const { return schedule_; }

 private:
  struct WorkerState;

  void prepare();
  void prepare_ranking();
  // Collective. The mean over all users of what every worker's evaluator finds for its own.
  template <class Evaluate>
  RankingQuality mean_quality(Evaluate&& evaluate);
  bool is_due(std::uint64_t epoch) const;
  // Collective. The mean loss of the last epoch's interactions.
  double mean_loss();
  // Collective. Throws Error if the training has diverged.
  void check_health(const EpochRecord& record, TrainingJob* job) const;
  bool is_finished() const;

  // Content of a checkpoint besides the table.
  // Returns whether it resumes.
  bool begin(TrainingJob& job);
  RunIdentity identity() const;
  SavedState saved_state() const;
  void set_state(const SavedState& state);

  adapm::ParameterManager& manager_;
  const FactorizationProblem& problem_;
  TrainingOptions options_;
  std::int32_t local_workers_;
  std::size_t first_worker_;
  FactorModel model_;
  BlockSchedule schedule_;
  FactorTable factors_;
  LearningRate learning_rate_;
  double value_scale_;                              // of the cells
  std::unique_ptr<const NegativeItems> negatives_;  // both null for the squared loss
  std::unique_ptr<const UserItems> held_out_;
  std::vector<EpochRecord> epochs_;
  std::function<void()> initial_;
  bool has_stopped_ = false;
  std::vector<std::unique_ptr<WorkerState>> states_;  // by local index; each used only by its worker
};

}  // namespace lapse::apps
