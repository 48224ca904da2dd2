// Trains a matrix factorization on a parameter manager.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adapm/parameter_manager.hpp"
#include "apps/common/measured_phase.hpp"
#include "apps/common/training_job.hpp"
#include "apps/matrix_factorization/epoch_runner.hpp"
#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/learning_rate.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/schedule.hpp"
#include "apps/matrix_factorization/update_rule_options.hpp"

namespace lapse::apps {

// The defaults suit MovieTweetings.
struct TrainingOptions {
  std::string table = "factors";         // name of the table; one trainer of a server has it
  std::vector<std::int32_t> workers{1};  // of each rank; a single number is that of every rank
  std::uint64_t rank = 16;               // factors of each row and column
  bool biases = true;
  double initial_scale = 0.005;  // factors start uniform in [-scale, scale)
  double l2_factors = 0.08;
  double l2_biases = 0.02;
  UpdateRuleOptions update_rule;
  LearningRateOptions learning_rate;
  std::uint64_t epochs = 50;
  std::uint64_t patience = 3;  // epochs without a better test error after which training stops; 0: never
  std::uint64_t evaluate_every = 1;  // epochs from one evaluation to the next; 0: none
  std::uint64_t seed = 1;            // of initial factors and orders
  RunnerOptions runner;
  // The mode is one whose result is equal in every run; a resumed run must have as many workers.
  bool deterministic = false;

  // Throws ConfigurationError for values that make no sense, alone or together.
  void check(std::int32_t ranks) const;
};

// Root mean square errors.
struct Errors {
  double train_rmse = 0;
  std::optional<double> test_rmse;  // of the held-out cells, if there are any
};

struct EpochRecord {
  std::uint64_t epoch = 0;  // from 1
  double learning_rate = 0;
  std::optional<Errors> errors;  // after the epoch, if it was evaluated
  PhaseCost cost;                // of training alone
};

// Used by the thread that owns the manager. Every call is collective, and has the same effect on every rank,
// also on ranks without workers; errors are thrown on every rank.
class Trainer {
 public:
  // Collective. Creates the table, distributes the cells and places the factors. Manager and problem must
  // outlive the trainer; the problem is equal on every rank. Throws ConfigurationError for impossible
  // options.
  Trainer(adapm::ParameterManager& manager, const FactorizationProblem& problem,
          const TrainingOptions& options);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Collective. Trains until the options say stop; calls on_epoch on every rank after every epoch. Throws
  // Error when the training has diverged: see require_healthy. A job, which may be null, saves checkpoints;
  // where it is to be resumed, the training goes on from there, and where it is to stop, the training returns
  // after the epoch, and has stopped.
  void run(const std::function<void(const EpochRecord&)>& on_epoch = {}, TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }

  // Collective. One epoch, without an evaluation.
  EpochRecord run_epoch();
  // Collective. In parallel over all workers.
  Errors evaluate();

  const std::vector<EpochRecord>& epochs() const { return epochs_; }
  // Of the evaluated epochs, the one with the smallest test error (without test cells: training error).
  const EpochRecord* best() const;
  adapm::Technique technique() const { return manager_.options().technique; }
  const TrainingOptions& options() const { return options_; }
  const FactorTable& factors() const { return factors_; }
  const FactorModel& model() const { return model_; }
  const BlockSchedule& schedule() const { return schedule_; }

 private:
  struct WorkerState;

  void prepare();
  bool is_due(std::uint64_t epoch) const;
  // Collective. Throws Error where the training has diverged.
  void check_health(const EpochRecord& record, TrainingJob* job) const;
  bool is_finished() const;

  // What a checkpoint has beside the table.
  void begin(TrainingJob& job);
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
  double value_scale_;  // of the cells
  std::vector<EpochRecord> epochs_;
  bool has_stopped_ = false;
  std::vector<std::unique_ptr<WorkerState>> states_;  // by local index; each touched by its worker alone
};

}  // namespace lapse::apps
