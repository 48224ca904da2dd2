#include "apps/knowledge_graph_embeddings/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/common/manager_program.hpp"
#include "apps/common/worker_counts.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

const TrainingOptions& checked(const TrainingOptions& options, std::int32_t ranks) {
  options.check(ranks);
  return options;
}

// Copies of a key show other workers' updates a little later, which only intents pay for.
Consistency consistency_of(TrainingMode mode) {
  return mode == TrainingMode::intent ? Consistency::eventual : Consistency::sequential;
}

}  // namespace

void TrainingOptions::check(std::int32_t ranks) const {
  const auto require = [](bool condition, std::string_view what) {
    if (!condition) throw ConfigurationError(std::string(what));
  };
  check_worker_counts(workers, ranks);
  require(total_workers(workers, ranks) > 0, "no workers on any rank, expected at least 1");
  require(model.dimensions >= 1, "0 dimensions, expected at least 1");
  require(std::isfinite(model.margin), "the margin must be a number");
  require(initial_scale >= 0 && std::isfinite(initial_scale), "the initial scale must not be negative");
  require(optimiser.learning_rate > 0 && std::isfinite(optimiser.learning_rate),
          "the learning rate must be positive");
  require(runner.batch >= 1, "batch 0, expected at least 1 triple");
  require(runner.l2 >= 0 && std::isfinite(runner.l2), "the regularization must not be negative");
}

Trainer::Trainer(adapm::ParameterManager& manager, const KnowledgeGraph& graph,
                 const TrainingOptions& options)
    : manager_(manager),
      graph_(graph),
      options_(checked(options, manager.ranks())),
      local_workers_(workers_of(options.workers, manager.rank())),
      model_(make_model(options.model)),
      partition_(make_on_every_rank(manager.server(),
                                    [&] {
                                      return TriplePartition(graph, clustering_of(options.runner.mode),
                                                             options.workers, manager.ranks(), options.seed);
                                    })),
      tables_(create_embedding_tables(manager, options.tables, graph, *model_, options.initial_scale,
                                      options.optimiser, consistency_of(options.runner.mode), options.seed)),
      evaluator_(make_on_every_rank(manager.server(), [&] { return Evaluator(graph, *model_); })),
      runners_(static_cast<std::size_t>(local_workers_)) {
  options_.runner.seed = options.seed;
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    const WorkerTask task{tables_, *model_, graph_, partition_, worker.index(), technique()};
    auto& runner = runners_[worker.local_index()];
    runner = std::make_unique<EpochRunner>(task, options_.runner);
    runner->place(worker);
  });
}

Trainer::~Trainer() = default;

EpochRecord Trainer::run_epoch() {
  const std::uint64_t epoch = epochs_.size();
  double loss = 0;
  std::vector<double> losses(runners_.size());
  const PhaseCost cost = run_measured(manager_, local_workers_, tables_.ids(), [&](adapm::Worker& worker) {
    losses[worker.local_index()] = runners_[worker.local_index()]->run(worker, epoch);
  });
  // Ranks without workers take part, so that they receive the sum.
  manager_.server().run_workers(std::max(1, local_workers_), [&](Worker& worker) {
    double sum = worker.local_index() < losses.size() ? losses[worker.local_index()] : 0;
    worker.all_reduce(std::span(&sum, 1));
    if (worker.local_index() == 0) loss = sum;
  });
  loss /= static_cast<double>(graph_.train.size());
  if (!std::isfinite(loss)) {
    throw Error(fmt::format("training diverged in epoch {} with learning rate {}: choose a smaller one",
                            epoch + 1, options_.optimiser.learning_rate));
  }
  epochs_.push_back({epoch + 1, loss, std::nullopt, cost});
  return epochs_.back();
}

Evaluation Trainer::evaluate() {
  return evaluator_.evaluate(manager_.server(), local_workers_, tables_);
}

void Trainer::run(const std::function<void(const EpochRecord&)>& on_epoch) {
  while (epochs_.size() < options_.epochs) {
    run_epoch();
    EpochRecord& record = epochs_.back();
    if (is_due(record.epoch)) record.evaluation = evaluate();
    if (on_epoch) on_epoch(record);
  }
}

bool Trainer::is_due(std::uint64_t epoch) const {
  if (graph_.valid.empty() && graph_.test.empty()) return false;
  return options_.evaluate_every != 0 && (epoch % options_.evaluate_every == 0 || epoch == options_.epochs);
}

}  // namespace lapse::apps
