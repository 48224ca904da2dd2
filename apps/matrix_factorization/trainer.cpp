#include "apps/matrix_factorization/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "apps/common/manager_program.hpp"
#include "apps/common/training_health.hpp"
#include "apps/common/worker_counts.hpp"
#include "apps/matrix_factorization/evaluation.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

std::optional<double> rmse(double squared_error, std::size_t cells) {
  if (cells == 0) return std::nullopt;
  return std::sqrt(squared_error / static_cast<double>(cells));
}

double deciding_error(const EpochRecord& record) {
  return record.errors->test_rmse.value_or(record.errors->train_rmse);
}

// The largest absolute value, a bound on the errors of an untrained model.
double scale_of(const FactorizationProblem& problem) {
  float largest = 1;
  for (const io::Cell& cell : problem.train) largest = std::max(largest, std::abs(cell.value));
  return largest;
}

// Replicas show other workers' updates a little later, which pays off only with intents.
Consistency consistency_of(const RunnerOptions& options) {
  if (options.mode != TrainingMode::intent) return Consistency::sequential;
  return options.consistency.value_or(Consistency::eventual);
}

}  // namespace

struct Trainer::WorkerState {
  WorkerState(const Trainer& trainer, std::size_t worker)
      : train(trainer.problem_.train, trainer.schedule_, worker),
        test(trainer.problem_.test, trainer.schedule_, worker),
        runner(
            make_epoch_runner({trainer.factors_, trainer.model_, trainer.schedule_, train, trainer.problem_,
                               worker, trainer.first_worker_, trainer.states_.size(), trainer.technique()},
                              trainer.options_.runner)) {}

  WorkerCells train;
  WorkerCells test;
  std::unique_ptr<EpochRunner> runner;
};

void TrainingOptions::check(std::int32_t ranks) const {
  const auto require = [](bool condition, std::string_view what) {
    if (!condition) throw ConfigurationError(std::string(what));
  };
  check_worker_counts(workers, ranks);
  require(rank >= 1, "rank 0, expected at least 1");
  require(runner.mode != TrainingMode::latency_hiding || runner.lookahead != 0,
          "lookahead 0, expected at least 1 cell");
  require(runner.batch != 0, "batch 0, expected at least 1 cell");
  require(initial_scale >= 0 && std::isfinite(initial_scale), "the initial scale must not be negative");
  require(l2_factors >= 0 && std::isfinite(l2_factors), "the regularization of factors must not be negative");
  require(l2_biases >= 0 && std::isfinite(l2_biases), "the regularization of biases must not be negative");
  require(learning_rate.decay >= 0 && std::isfinite(learning_rate.decay),
          "the decay of the learning rate must not be negative");
  require(learning_rate.initial > 0 && std::isfinite(learning_rate.initial),
          "the learning rate must be positive");
  require(learning_rate.kind != LearningRateOptions::Kind::bold_driver || evaluate_every == 1,
          "the bold driver needs an evaluation after every epoch");
}

Trainer::Trainer(adapm::ParameterManager& manager, const FactorizationProblem& problem,
                 const TrainingOptions& options)
    : manager_(manager),
      problem_(problem),
      options_((options.check(manager.ranks()), options)),
      local_workers_(workers_of(options.workers, manager.rank())),
      first_worker_(workers_before(options.workers, manager.rank())),
      model_(options.rank, options.biases, problem.mean),
      schedule_(make_on_every_rank(manager.server(),
                                   [&] {
                                     return BlockSchedule(
                                         problem, std::max<std::size_t>(
                                                      1, total_workers(options.workers, manager.ranks())));
                                   })),
      factors_(create_factor_table(manager, options.table, problem, model_, options.initial_scale,
                                   options.seed,
                                   make_update_rule(options.update_rule, options.learning_rate.initial),
                                   consistency_of(options.runner))),
      learning_rate_(options.learning_rate),
      value_scale_(scale_of(problem)),
      states_(static_cast<std::size_t>(local_workers_)) {
  options_.runner.seed = options.seed;
  prepare();
}

Trainer::~Trainer() = default;

void Trainer::prepare() {
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    auto& state = states_[worker.local_index()];
    state = std::make_unique<WorkerState>(*this, first_worker_ + worker.local_index());
    state->runner->place(worker);
  });
}

EpochRecord Trainer::run_epoch() {
  const std::uint64_t epoch = epochs_.size();
  const double rate = learning_rate_.current();
  const SgdSteps steps{static_cast<float>(rate), static_cast<float>(options_.l2_factors),
                       static_cast<float>(options_.l2_biases),
                       static_cast<float>(rate / options_.learning_rate.initial)};
  const std::array tables{factors_.table.id()};
  const PhaseCost cost = run_measured(manager_, local_workers_, tables, [&](adapm::IntentWorker& worker) {
    states_[worker.local_index()]->runner->run(worker, epoch, steps);
  });
  epochs_.push_back({epoch + 1, rate, std::nullopt, cost});
  return epochs_.back();
}

Errors Trainer::evaluate() {
  std::array<double, 2> sums{};
  // Ranks without workers take part to receive the sums.
  manager_.server().run_workers(std::max(1, local_workers_), [&](Worker& worker) {
    std::array<double, 2> squared_errors{};
    if (worker.local_index() < states_.size()) {
      Evaluator evaluator(worker, factors_, model_);
      const WorkerState& state = *states_[worker.local_index()];
      squared_errors = {evaluator.squared_error(state.train), evaluator.squared_error(state.test)};
    }
    worker.all_reduce(squared_errors);
    if (worker.local_index() == 0) sums = squared_errors;
  });
  return {rmse(sums[0], problem_.train.size()).value_or(0), rmse(sums[1], problem_.test.size())};
}

void Trainer::run(const std::function<void(const EpochRecord&)>& on_epoch, TrainingJob* job) {
  if (job != nullptr) begin(*job);
  const auto state = [this] { return saved_state(); };
  while (!is_finished()) {
    run_epoch();
    EpochRecord& record = epochs_.back();
    if (is_due(record.epoch)) record.errors = evaluate();
    check_health(record, job);
    learning_rate_.epoch_finished(record.errors ? record.errors->train_rmse : 0);
    if (on_epoch) on_epoch(record);
    has_stopped_ = job != nullptr && !is_finished() && job->pause({.epochs = epochs_.size()}, state);
    if (has_stopped_) return;
  }
  if (job != nullptr) job->finish({.epochs = epochs_.size()}, state);
}

void Trainer::check_health(const EpochRecord& record, TrainingJob* job) const {
  TrainingHealth health{.epoch = record.epoch,
                        .rate = record.learning_rate,
                        .loss_of_nothing = value_scale_,
                        .value_scale = std::max(value_scale_, options_.initial_scale),
                        .tables = std::span(&factors_.table, 1)};
  if (record.errors) {
    const double train = record.errors->train_rmse;
    const double deciding = deciding_error(record);
    // std::max ignores a NaN as the second argument.
    health.loss =
        std::isfinite(train) && std::isfinite(deciding) ? std::max(train, deciding) : train + deciding;
  }
  require_healthy(manager_.server(), health, job);
}

const EpochRecord* Trainer::best() const {
  const EpochRecord* best = nullptr;
  for (const EpochRecord& record : epochs_) {
    if (!record.errors) continue;
    if (best == nullptr || deciding_error(record) < deciding_error(*best)) best = &record;
  }
  return best;
}

bool Trainer::is_due(std::uint64_t epoch) const {
  return options_.evaluate_every != 0 && (epoch % options_.evaluate_every == 0 || epoch == options_.epochs);
}

bool Trainer::is_finished() const {
  if (epochs_.size() >= options_.epochs) return true;
  const EpochRecord* const best_epoch = best();
  return options_.patience != 0 && best_epoch != nullptr &&
         epochs_.size() - best_epoch->epoch >= options_.patience;
}

}  // namespace lapse::apps
