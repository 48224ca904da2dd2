#include "apps/matrix_factorization/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "adapm/distribution.hpp"
#include "apps/common/manager_program.hpp"
#include "apps/common/technique_option.hpp"
#include "apps/common/training_health.hpp"
#include "apps/common/worker_counts.hpp"
#include "apps/matrix_factorization/evaluation.hpp"
#include "apps/matrix_factorization/ranking/ranking_evaluator.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

std::optional<double> rmse(double squared_error, std::size_t cells) {
  if (cells == 0) return std::nullopt;
  return std::sqrt(squared_error / static_cast<double>(cells));
}

// The largest absolute value, a bound on the errors of an untrained model.
double scale_of(const FactorizationProblem& problem) {
  float largest = 1;
  for (const io::Cell& cell : problem.train) largest = std::max(largest, std::abs(cell.value));
  return largest;
}

// Of a diverged training, the loss of a pair is far above this one's.
double loss_of_nothing(const TrainingOptions& options, double value_scale, std::uint64_t columns) {
  return options.ranking.ranks() ? std::log(static_cast<double>(columns) + 1) : value_scale;
}

std::vector<std::uint32_t> rows_with_items(const UserItems& items, const BlockSchedule& schedule,
                                           std::size_t worker) {
  std::vector<std::uint32_t> rows;
  for (std::uint32_t row = 0; row < items.rows(); ++row)
    if (schedule.rows.part_of(row) == worker && !items.of(row).empty()) rows.push_back(row);
  return rows;
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
        runner(make_epoch_runner(
            {trainer.factors_, trainer.model_, trainer.schedule_, train, trainer.problem_, worker,
             trainer.first_worker_, trainer.states_.size(), trainer.technique(), trainer.negatives_.get()},
            trainer.options_.runner)) {
    if (!trainer.negatives_) return;
    ranking.emplace(trainer.negatives_->known, *trainer.held_out_,
                    rows_with_items(*trainer.held_out_, trainer.schedule_, worker),
                    trainer.options_.ranking.top);
  }

  WorkerCells train;
  WorkerCells test;
  std::unique_ptr<EpochRunner> runner;
  std::optional<RankingEvaluator> ranking;
};

std::optional<double> EpochRecord::deciding_loss() const {
  if (errors) return errors->test_rmse.value_or(errors->train_rmse);
  if (!quality) return std::nullopt;
  return quality->users == 0 ? train_loss : -quality->ndcg;
}

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
  if (!ranking.ranks()) return;
  require(runner.mode == TrainingMode::intent, "the losses bpr and warp need the mode intent");
  require(learning_rate.kind == LearningRateOptions::Kind::decay,
          "the losses bpr and warp need a learning rate that decays");
  require(ranking.max_sampled >= 1, "0 negatives are tried, expected at least 1");
  require(ranking.top >= 1, "lists of 0 items, expected at least 1");
}

Trainer::Trainer(adapm::ParameterManager& manager, const FactorizationProblem& problem,
                 const TrainingOptions& options)
    : manager_(manager),
      problem_(problem),
      options_((options.check(manager.ranks()), options)),
      local_workers_(workers_of(options.workers, manager.rank())),
      first_worker_(workers_before(options.workers, manager.rank())),
      model_(options.rank, options.biases, options.ranking.ranks() ? 0 : problem.mean),
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
  if (options.ranking.ranks()) prepare_ranking();
  prepare();
}

Trainer::~Trainer() = default;

void Trainer::prepare_ranking() {
  // On one rank every key is local, so nothing is gained by announcing draws.
  const adapm::SamplingScheme scheme = manager_.ranks() == 1
                                           ? options_.ranking.sampling.value_or(adapm::SamplingScheme::naive)
                                           : sampling_scheme(options_.ranking.sampling, manager_.options());
  const auto columns =
      adapm::Distribution::uniform({factors_.column_key(0), factors_.column_key(factors_.columns)});
  adapm::Sampler<float> sampler =
      manager_.create_sampler(factors_.table, columns, {.scheme = scheme, .seed = options_.seed});
  make_on_every_rank(manager_.server(), [&] {
    negatives_ = std::make_unique<NegativeItems>(
        NegativeItems{options_.ranking, UserItems(problem_.train, problem_.rows), std::move(sampler)});
    held_out_ = std::make_unique<UserItems>(problem_.test, problem_.rows, &negatives_->known);
    return 0;
  });
}

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
  const PhaseCost cost = run_measured(
      manager_, local_workers_, tables, epoch_name(epoch + 1),
      [&](adapm::IntentWorker& worker) { states_[worker.local_index()]->runner->run(worker, epoch, steps); });
  epochs_.push_back({epoch + 1, rate, std::nullopt, cost});
  if (options_.ranking.ranks()) epochs_.back().train_loss = mean_loss();
  return epochs_.back();
}

double Trainer::mean_loss() {
  double mean = 0;
  // Ranks without workers take part to receive the sum.
  manager_.server().run_workers(std::max(1, local_workers_), [&](Worker& worker) {
    std::array<double, 1> sum{};
    if (worker.local_index() < states_.size()) sum[0] = states_[worker.local_index()]->runner->loss_sum();
    worker.all_reduce(sum);
    if (worker.local_index() == 0) mean = sum[0] / static_cast<double>(problem_.train.size());
  });
  return mean;
}

template <class Evaluate>
RankingQuality Trainer::mean_quality(Evaluate&& evaluate) {
  RankingQuality quality;
  manager_.server().run_workers(std::max(1, local_workers_), [&](Worker& worker) {
    RankingSums sums;
    if (worker.local_index() < states_.size())
      sums = evaluate(worker, *states_[worker.local_index()]->ranking);
    worker.all_reduce(sums.numbers());
    if (worker.local_index() == 0) quality = sums.mean();
  });
  return quality;
}

RankingQuality Trainer::evaluate_ranking() {
  return mean_quality([this](Worker& worker, RankingEvaluator& evaluator) {
    return evaluator.by_model(worker, factors_, model_);
  });
}

RankingQuality Trainer::evaluate_popularity() {
  return mean_quality([this](Worker&, RankingEvaluator& evaluator) {
    return evaluator.by_popularity(problem_.column_counts);
  });
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
  const bool resumes = job != nullptr && begin(*job);
  if (!resumes && initial_) initial_();
  const auto state = [this] { return saved_state(); };
  while (!is_finished()) {
    run_epoch();
    EpochRecord& record = epochs_.back();
    if (is_due(record.epoch) && options_.ranking.ranks())
      record.quality = evaluate_ranking();
    else if (is_due(record.epoch))
      record.errors = evaluate();
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
                        .loss_of_nothing = loss_of_nothing(options_, value_scale_, problem_.columns),
                        .value_scale = std::max(value_scale_, options_.initial_scale),
                        .tables = std::span(&factors_.table, 1)};
  if (record.errors) {
    const double train = record.errors->train_rmse;
    const double deciding = record.errors->test_rmse.value_or(train);
    // std::max ignores a NaN as the second argument.
    health.loss =
        std::isfinite(train) && std::isfinite(deciding) ? std::max(train, deciding) : train + deciding;
  }
  if (record.train_loss) health.loss = record.train_loss;
  require_healthy(manager_.server(), health, job);
}

const EpochRecord* Trainer::best() const {
  const EpochRecord* best = nullptr;
  for (const EpochRecord& record : epochs_) {
    if (!record.deciding_loss()) continue;
    if (best == nullptr || *record.deciding_loss() < *best->deciding_loss()) best = &record;
  }
  return best;
}

bool Trainer::is_due(std::uint64_t epoch) const {
  return options_.evaluate_every != 0 && (epoch % options_.evaluate_every == 0 || epoch == options_.epochs);
}

bool Trainer::is_finished() const {
  if (epochs_.size() >= options_.epochs) return true;
  const EpochRecord* const best_epoch = best();
  // Only an evaluation can show that nothing became better.
  return options_.patience != 0 && best_epoch != nullptr && epochs_.back().deciding_loss() &&
         epochs_.size() - best_epoch->epoch >= options_.patience;
}

}  // namespace lapse::apps
