// The interface of the solvers of linear models.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "adapm/intent_worker.hpp"
#include "apps/linear_model/linear_problem.hpp"
#include "apps/linear_model/model_tables.hpp"
#include "apps/linear_model/worker_samples.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

enum class Solver : std::uint8_t { svrg, loopless, saga, sdca, sgd };

inline constexpr std::array kSolvers{Solver::svrg, Solver::loopless, Solver::saga, Solver::sdca, Solver::sgd};

constexpr std::string_view to_string(Solver solver) {
  switch (solver) {
    case Solver::svrg:
      return "svrg";
    case Solver::loopless:
      return "loopless";
    case Solver::saga:
      return "saga";
    case Solver::sdca:
      return "sdca";
    case Solver::sgd:
      break;
  }
  return "sgd";
}

struct SolverOptions {
  Solver solver = Solver::svrg;
  // Of sgd: samples of a step, of all workers, and the factor by which they grow from epoch to epoch.
  std::uint64_t batch = 100;
  double batch_growth = 1;
  double step_scale = 1;   // factor of the step size that the solver chooses
  std::uint64_t seed = 1;  // of the order of samples
};

// Of one worker, all with the same options. Its two stages are collective over all workers, who run them by
// turns, a wide stage first. Every worker of a rank may be on another thread in the next phase.
class LinearSolver {
 public:
  // The problem must outlive the solver.
  LinearSolver(const LinearProblem& problem, const ModelTables& tables, WorkerSamples samples,
               const SolverOptions& options)
      : problem_(problem), tables_(tables), samples_(std::move(samples)), options_(options) {}
  virtual ~LinearSolver() = default;
  LinearSolver(const LinearSolver&) = delete;
  LinearSolver& operator=(const LinearSolver&) = delete;

  // Wide stage: one pass over all samples at the tables' weights. Returns the sums of all workers.
  virtual ModelMeasures measure(Worker& worker) = 0;
  // Narrow stage: the steps of an epoch, numbered from 0.
  virtual void run_steps(adapm::IntentWorker& worker, std::uint64_t epoch) = 0;
  // What a later training needs besides the weights: a number for each sample, if any.
  virtual std::span<double> sample_state() { return {}; }

  const WorkerSamples& samples() const { return samples_; }

 protected:
  const LinearProblem& problem() const { return problem_; }
  const ModelTables& tables() const { return tables_; }
  const SolverOptions& options() const { return options_; }

 private:
  const LinearProblem& problem_;
  ModelTables tables_;
  WorkerSamples samples_;
  SolverOptions options_;
};

// Whether the table of weights has the v of SdcaSolver, and measures have duals.
bool has_dual_variables(Solver solver);
// The passes over the data that the steps of an epoch take, from 0; of `loopless` in this epoch.
double passes_of(const SolverOptions& options, std::uint64_t epoch);

// The one that is fastest for most samples.
Solver default_solver(Loss loss, const Penalty& penalty);

// Throws ConfigurationError for a solver that cannot minimize the problem with this number of workers.
void check_solver(Loss loss, const Penalty& penalty, const SolverOptions& options, std::size_t workers);

std::unique_ptr<LinearSolver> make_solver(const LinearProblem& problem, const ModelTables& tables,
                                          WorkerSamples samples, const SolverOptions& options);

// Collective. Replaces the sums of this worker by those of all workers.
void reduce(Worker& worker, ModelMeasures& measures);

// The order of n samples in a pass: every order is equally likely.
std::vector<std::uint32_t> shuffled(std::size_t n, RandomEngine& random);

}  // namespace lapse::apps
