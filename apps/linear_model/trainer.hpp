// Trains a linear model on a parameter manager.
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
#include "apps/linear_model/sample_data.hpp"
#include "apps/linear_model/solvers/linear_solver.hpp"
#include "apps/linear_model/test_samples.hpp"

namespace lapse::apps {

struct LinearTrainingOptions {
  std::string tables = "linear";         // prefix of the tables' names; unique in the manager
  std::vector<std::int32_t> workers{1};  // by rank; a single number applies to every rank
  Loss loss = Loss::logistic;
  double cost = 1;
  Penalty penalty = {};
  SolverOptions solver = {};
  std::optional<std::uint64_t> epochs = {};  // at most; default: 1000, of sgd 20
  // LinearEpoch::error at which the training ends; default: 1e-3 of solvers with dual variables, else 1e-4.
  std::optional<double> tolerance = {};
  std::optional<Consistency> consistency = {};  // of both tables; a clock is a step
  std::int32_t host_ranks = 1;                  // ranks of a host: each may use its share of the memory

  std::uint64_t max_epochs() const {
    constexpr std::uint64_t kOfSgd = 20;
    constexpr std::uint64_t kOfOthers = 1000;
    return epochs.value_or(solver.solver == Solver::sgd ? kOfSgd : kOfOthers);
  }
  double error_to_reach() const {
    return tolerance.value_or(has_dual_variables(solver.solver) ? 1e-3 : 1e-4);
  }
  // Throws ConfigurationError for invalid values or combinations.
  void check(std::int32_t ranks) const;
};

// The state after an epoch.
struct LinearEpoch {
  std::uint64_t epoch = 0;  // from 1; 0: before the first
  double passes = 0;        // over the data, of all epochs up to this one; without those of measures
  double objective = 0;     // F of LinearProblem
  // How far the objective is from the optimum. Solvers with dual variables: the duality gap divided by the
  // objective, which is an upper bound. Others: the norm of the gradient divided by that of weights that are
  // 0, or by 1 if these are the optimum.
  double error = 0;
  double accuracy = 0;  // of the training samples
  std::optional<PredictionQuality> test = {};
  PhaseCost cost = {};
};

// Weights to start from.
struct InitialWeights {
  std::vector<double> weights;  // by key of the table
  std::uint64_t known = 0;      // features that the model had
};

// Used by the manager's thread. Every call is collective, and has the same effect on every rank, also on
// ranks without workers. Errors are thrown on every rank.
class LinearTrainer {
 public:
  // Collective. Creates the tables. The manager must outlive the trainer; `data`: from
  // load_training_samples. Throws ConfigurationError for invalid options; OutOfMemory if the host has too
  // little for the workers' samples. With `tables`: of as many keys as the samples have features, and zeros.
  LinearTrainer(adapm::ParameterManager& manager, TrainingSamples data, const LinearTrainingOptions& options,
                const std::optional<ModelTables>& tables = {});
  ~LinearTrainer();
  LinearTrainer(const LinearTrainer&) = delete;
  LinearTrainer& operator=(const LinearTrainer&) = delete;

  // Computes the quality of these predictions after every epoch. Call it before run().
  void set_test(TestSamples samples) { test_.emplace(std::move(samples)); }

  // Collective when it is called: returns the weights to start from, on every rank with workers. run() calls
  // it before the first epoch, unless it resumes a checkpoint. Features that no sample has start at 0. Throws
  // ConfigurationError if the solver has dual variables.
  void set_initial(std::function<InitialWeights()> initial);

  // Collective. Runs epochs until the tolerance is reached, at most as many as the options have; calls
  // on_epoch on every rank after each. `job`, which may be null, saves checkpoints between epochs. If it
  // resumes, the training continues from its checkpoint. If it is to stop, the training returns, and
  // has_stopped().
  void run(const std::function<void(const LinearEpoch&)>& on_epoch = {}, TrainingJob* job = nullptr);
  bool has_stopped() const { return has_stopped_; }
  bool has_converged() const;

  // The epochs, after one for the state before the first.
  const std::vector<LinearEpoch>& epochs() const { return epochs_; }
  const LinearProblem& problem() const { return problem_; }
  const LinearTrainingOptions& options() const { return options_; }
  const SampleForm& form() const { return form_; }
  const SampleClasses& classes() const { return classes_; }
  std::size_t workers() const;

  // The table of weights; they follow from its values by the penalty, if that is not null.
  const ModelTables& tables() const { return tables_; }
  const Penalty* dual_penalty() const;

 private:
  // The first wide stage, and the record of epoch 0.
  void start();
  void run_epoch();
  // Sets the weights of set_initial.
  void take_initial();
  // Runs `before` and a wide stage on all workers, and sets the costs of the record.
  ModelMeasures measure(LinearEpoch& record,
                        const std::function<void(adapm::IntentWorker&, LinearSolver&)>& before);
  // Those of any rank with workers.
  ModelMeasures of_workers(const ModelMeasures& measures) const;
  // Adds what a measure has found to the record.
  void evaluate(LinearEpoch& record, const ModelMeasures& measures);

  // Content of a checkpoint: the weights, and the solver's number for each sample in a table.
  void resume(TrainingJob& job);
  RunIdentity identity() const;
  SavedState saved_state();
  JobProgress progress() const;

  adapm::ParameterManager& manager_;
  LinearTrainingOptions options_;
  std::int32_t local_workers_;
  SampleForm form_;
  SampleClasses classes_;
  std::uint64_t checksum_;  // of the samples
  LinearProblem problem_;
  ModelTables tables_;
  std::optional<Table<double>> sample_state_;           // by sample; if there is a job
  std::vector<std::unique_ptr<LinearSolver>> solvers_;  // by local index
  std::optional<TestSamples> test_;
  std::function<InitialWeights()> initial_;
  double first_gradient_ = 0;                   // norm, where weights are 0
  std::optional<double> objective_of_nothing_;  // likewise; nullopt if the training was resumed
  std::vector<LinearEpoch> epochs_;
  bool has_stopped_ = false;
};

}  // namespace lapse::apps
