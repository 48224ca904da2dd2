#include "apps/knowledge_graph_embeddings/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "adapm/distribution.hpp"
#include "apps/common/manager_program.hpp"
#include "apps/common/technique_option.hpp"
#include "apps/common/training_health.hpp"
#include "apps/common/worker_counts.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

const TrainingOptions& checked(const TrainingOptions& options, std::int32_t ranks,
                               const KnowledgeGraph& graph) {
  options.check(ranks);
  options.check(graph);
  return options;
}

void require(bool condition, std::string_view what) {
  if (!condition) throw ConfigurationError(std::string(what));
}

bool is_share(double number) {
  return number >= 0 && number < 1;
}

bool is_factor(double number) {
  return number > 0 && number <= 1;
}

// Replicas show other workers' updates a little later, which pays off only with intents. A deterministic
// training must see all earlier updates.
Consistency consistency_of(const RunnerOptions& options) {
  const bool may_copy = options.mode == TrainingMode::intent && !options.deterministic;
  return may_copy ? options.consistency.value_or(Consistency::eventual) : Consistency::sequential;
}

}  // namespace

void TrainingOptions::check(std::int32_t ranks) const {
  check_worker_counts(workers, ranks);
  require(total_workers(workers, ranks) > 0, "no workers on any rank, expected at least 1");
  require(model.dimensions >= 1, "0 dimensions, expected at least 1");
  require(std::isfinite(model.margin), "the margin must be a number");
  require(initial_scale >= 0 && std::isfinite(initial_scale), "the initial scale must not be negative");
  require(optimiser.learning_rate > 0 && std::isfinite(optimiser.learning_rate),
          "the learning rate must be positive");
  require(runner.batch >= 1, "batch 0, expected at least 1 triple");
  for (const double strength : {runner.loss.l2, runner.loss.n3})
    require(strength >= 0 && std::isfinite(strength), "the regularization must not be negative");
  require(is_share(runner.loss.dropout.entity) && is_share(runner.loss.dropout.relation),
          "a share of dropout must be at least 0 and below 1");
  require(is_factor(schedule.rate_decay) && is_factor(schedule.plateau_decay),
          "a decay of the learning rate must be above 0 and at most 1");
  require(runner.negatives.sharing != NegativeSharing::batch || runner.negatives.per_side != 0,
          "0 shared negatives, expected at least 1");
  require(has_loss(), "the softmax of a triple and 0 negatives is always 1, expected at least 1 negative");
  require(runner.negatives.sharing != NegativeSharing::all || !localizes_entities(runner.mode),
          "with all entities as negatives every worker uses every entity: nothing can be localized");
}

void TrainingOptions::check(const KnowledgeGraph& graph) const {
  if (runner.negatives.sharing == NegativeSharing::batch && runner.negatives.per_side > graph.entities) {
    throw ConfigurationError(fmt::format("{} different shared negatives of a graph with {} entities",
                                         runner.negatives.per_side, graph.entities));
  }
  const bool observes_quality = schedule.patience != 0 || schedule.plateau_decay != 1;
  require(!observes_quality || (!graph.valid.empty() && evaluate_every != 0),
          "patience, and a decay on a plateau, need evaluations on validation triples");
}

std::optional<std::string> TrainingOptions::fit(const KnowledgeGraph& graph) {
  NegativeOptions& negatives = runner.negatives;
  if (negatives.sharing != NegativeSharing::batch || negatives.per_side <= graph.entities)
    return std::nullopt;
  const std::size_t wanted = std::exchange(negatives.per_side, graph.entities);
  return fmt::format("{} different shared negatives, and the graph has {} entities: all are negatives",
                     wanted, graph.entities);
}

Trainer::Trainer(adapm::ParameterManager& manager, const KnowledgeGraph& graph,
                 const TrainingOptions& options)
    : manager_(manager),
      graph_(graph),
      options_(checked(options, manager.ranks(), graph)),
      local_workers_(workers_of(options.workers, manager.rank())),
      model_(make_model(options.model)),
      form_(graph.relations, options.reciprocal),
      partition_(make_on_every_rank(manager.server(),
                                    [&] {
                                      return TriplePartition(graph, clustering_of(options.runner.mode),
                                                             options.workers, manager.ranks(), options.seed);
                                    })),
      tables_(create_embedding_tables(manager, options.tables, graph, *model_, form_, options.initial_scale,
                                      options.optimiser, consistency_of(options.runner), options.seed)),
      sampler_(make_sampler()),
      evaluator_(make_on_every_rank(manager.server(), [&] { return Evaluator(graph, *model_, form_); })),
      schedule_(options.schedule),
      runners_(static_cast<std::size_t>(local_workers_)),
      positions_(runners_.size()) {
  options_.runner.seed = options.seed;
  if (stops_early()) best_.emplace(manager, options.tables, tables_);
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    const WorkerTask task{tables_,    *model_,        form_,       graph_,
                          partition_, worker.index(), technique(), sampler_ ? &*sampler_ : nullptr};
    auto& runner = runners_[worker.local_index()];
    runner = std::make_unique<EpochRunner>(task, options_.runner);
    runner->place(worker);
  });
}

Trainer::~Trainer() = default;

std::optional<adapm::Sampler<float>> Trainer::make_sampler() {
  const NegativeOptions& negatives = options_.runner.negatives;
  if (options_.runner.mode != TrainingMode::intent || options_.runner.deterministic ||
      manager_.ranks() == 1 || negatives.per_side == 0 || negatives.sharing == NegativeSharing::all)
    return std::nullopt;
  const bool shares = negatives.sharing == NegativeSharing::batch;
  // Shared negatives are distinct, so a pool holds all of a batch.
  const std::size_t pool_keys =
      std::max<std::size_t>(manager_.options().sampling_pool_keys, shares ? negatives.per_side : 0);
  return manager_.create_sampler(tables_.entities,
                                 adapm::Distribution::uniform({Key(0), Key(graph_.entities)}),
                                 {.scheme = sampling_scheme(options_.sampling, manager_.options()),
                                  .with_replacement = !shares,
                                  .pool_keys = static_cast<std::uint32_t>(pool_keys),
                                  .seed = options_.seed});
}

EpochRecord Trainer::run_epoch() {
  run_part(nullptr);
  return epochs_.back();
}

bool Trainer::run_part(TrainingJob* job) {
  const std::uint64_t epoch = epochs_.size();
  const float rate = schedule_.rate(epoch);
  ShallLeave shall_leave;
  if (job != nullptr) shall_leave = [job](std::uint64_t batches) { return job->shall_leave(batches); };
  part_cost_ += run_measured(manager_, local_workers_, tables_.ids(), epoch_name(epoch + 1),
                             [&](adapm::IntentWorker& worker) {
                               const std::size_t local = worker.local_index();
                               runners_[local]->run(worker, epoch, rate, positions_[local], shall_leave);
                             });
  std::array<double, 3> sums{};  // losses, trained batches, batches of the epoch
  // Ranks without workers take part to receive the sums.
  manager_.server().run_workers(std::max(1, local_workers_), [&](Worker& worker) {
    std::array<double, 3> own{};
    if (worker.local_index() < positions_.size()) {
      const EpochRunner::Position& position = positions_[worker.local_index()];
      own = {position.loss, static_cast<double>(position.batches),
             static_cast<double>(runners_[worker.local_index()]->batches())};
    }
    worker.all_reduce(own);
    if (worker.local_index() == 0) sums = own;
  });
  const double loss = sums[0] / static_cast<double>(graph_.train.size());
  const std::array tables{tables_.entities, tables_.relations};
  require_healthy(manager_.server(),
                  {.epoch = epoch + 1,
                   .rate = options_.optimiser.learning_rate * double{rate},
                   .loss = loss,
                   .loss_of_nothing = loss_of_nothing(),
                   .value_scale = std::max({1.0, options_.initial_scale, std::abs(options_.model.margin)}),
                   .tables = tables},
                  job);
  part_clocks_ = static_cast<std::uint64_t>(sums[1]) / partition_.workers();
  if (sums[1] < sums[2]) return false;
  epochs_.push_back({epoch + 1, loss, std::nullopt, part_cost_});
  part_cost_ = {};
  clocks_ += std::exchange(part_clocks_, 0);
  positions_.assign(runners_.size(), {});
  return true;
}

double Trainer::loss_of_nothing() const {
  const NegativeOptions& negatives = options_.runner.negatives;
  const std::uint64_t of_side =
      negatives.sharing == NegativeSharing::all ? graph_.entities : std::uint64_t{negatives.per_side};
  // Each of the two queries of a triple has this many scores, none larger than the margin.
  const double scores = 2 * (static_cast<double>(of_side) + 1);
  return scores * std::max({1.0, options_.initial_scale, std::abs(options_.model.margin)});
}

Evaluation Trainer::evaluate(Splits splits) {
  return evaluator_.evaluate(manager_.server(), local_workers_, tables_, splits);
}

void Trainer::run(const std::function<void(const EpochRecord&)>& on_epoch, TrainingJob* job) {
  const bool resumes = job != nullptr && begin(*job);
  if (!resumes && initial_) initial_();
  const auto is_finished = [&] { return epochs_.size() >= options_.epochs || schedule_.is_finished(); };
  const auto state = [this] { return saved_state(); };
  while (!is_finished()) {
    if (run_part(job)) {
      if (is_due(epochs_.back().epoch)) evaluate_epoch();
      if (on_epoch) on_epoch(epochs_.back());
      if (is_finished()) break;
    }
    has_stopped_ = job != nullptr && job->pause(progress(), state);
    if (has_stopped_) return;
  }
  // A resumed training may end before its first evaluation.
  if (stops_early() && !epochs_.empty() && !schedule_.state().best) evaluate_epoch();
  if (job != nullptr) job->finish(progress(), state);
  if (stops_early() && !epochs_.empty()) restore_best();
}

void Trainer::evaluate_epoch() {
  EpochRecord& record = epochs_.back();
  record.evaluation = evaluate({.test = !stops_early()});
  if (graph_.valid.empty() || !schedule_.observe(record.evaluation->valid.all.mean_reciprocal_rank)) return;
  best_epoch_ = epochs_.size() - 1;
  if (stops_early()) best_->keep(tables_);
}

void Trainer::restore_best() {
  EpochRecord& best = epochs_[best_epoch_];
  best_->restore(tables_);
  const Evaluation test = evaluate({.valid = false});
  best.evaluation->test = test.test;
  best.evaluation->seconds += test.seconds;
}

const EpochRecord* Trainer::evaluated() const {
  if (stops_early()) return epochs_.empty() ? nullptr : &epochs_[best_epoch_];
  const auto last = std::find_if(epochs_.rbegin(), epochs_.rend(),
                                 [](const EpochRecord& record) { return record.evaluation.has_value(); });
  return last == epochs_.rend() ? nullptr : &*last;
}

bool Trainer::is_due(std::uint64_t epoch) const {
  if (graph_.valid.empty() && graph_.test.empty()) return false;
  return options_.evaluate_every != 0 && (epoch % options_.evaluate_every == 0 || epoch == options_.epochs);
}

}  // namespace lapse::apps
