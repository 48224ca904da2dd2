#include "apps/linear_model/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include "apps/common/required_memory.hpp"
#include "apps/common/training_health.hpp"
#include "apps/common/worker_parts.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

const LinearTrainingOptions& checked(const LinearTrainingOptions& options, std::int32_t ranks) {
  options.check(ranks);
  return options;
}

}  // namespace

void LinearTrainingOptions::check(std::int32_t ranks) const {
  const auto require = [](bool condition, std::string_view what) {
    if (!condition) throw ConfigurationError(std::string(what));
  };
  check_worker_counts(workers, ranks);
  require(total_workers(workers, ranks) > 0, "no workers on any rank, expected at least 1");
  require(cost > 0 && std::isfinite(cost), "the cost is not above 0");
  require(penalty.l1 >= 0 && penalty.l2 >= 0 && penalty.l1 + penalty.l2 > 0,
          "the penalty has a negative part, or none");
  require(solver.batch >= 1, "the batch is 0, expected at least 1 sample");
  require(solver.batch_growth >= 1, "the growth of the batch is below 1");
  require(error_to_reach() >= 0, "the tolerance is below 0");
  check_solver(loss, penalty, solver, total_workers(workers, ranks));
}

LinearTrainer::LinearTrainer(adapm::ParameterManager& manager, TrainingSamples data,
                             const LinearTrainingOptions& options, const std::optional<ModelTables>& tables)
    : manager_(manager),
      options_(checked(options, manager.ranks())),
      local_workers_(workers_of(options.workers, manager.rank())),
      form_(data.form),
      classes_(data.classes),
      checksum_(data.samples.checksum()),
      problem_{.loss = options.loss,
               .cost = options.cost,
               .penalty = options.penalty,
               .samples = data.samples.all_samples(),
               .entries = data.samples.all_entries(),
               .keys = data.form.keys()},
      tables_(tables ? *tables
                     : create_model_tables(manager, options.tables, problem_.keys, options.consistency)),
      solvers_(static_cast<std::size_t>(local_workers_)) {
  const io::DocumentPart part = part_of_rank(options.workers, manager.rank(), manager.ranks());
  manager.server().run_workers(local_workers_, [&](Worker& worker) {
    const auto indices = indices_of_worker(
        data.samples.samples(), [&](std::size_t i) { return data.samples.number(i); }, part,
        worker.local_index());
    if (worker.local_index() == 0) {
      // The entries, and for each worker some numbers of every feature.
      constexpr double kNumbers = 6;
      const double bytes =
          static_cast<double>(problem_.entries) / static_cast<double>(part.count) *
              static_cast<double>(part.width) * sizeof(io::FeatureValue) +
          kNumbers * sizeof(double) * static_cast<double>(problem_.keys) * static_cast<double>(part.width);
      require_memory(fmt::format("{} samples with {} features", problem_.samples, problem_.keys), bytes,
                     options_.host_ranks);
    }
    WorkerSamples samples(data.samples, indices, form_);
    std::array<double, 1> largest{0};
    for (std::size_t i = 0; i < samples.size(); ++i)
      largest[0] = std::max(largest[0], samples.squared_norm(i));
    worker.all_reduce(largest, Reduce::max);
    if (worker.local_index() == 0) problem_.largest_squared_norm = largest[0];
    solvers_[worker.local_index()] = make_solver(problem_, tables_, std::move(samples), options_.solver);
  });
}

LinearTrainer::~LinearTrainer() = default;

std::size_t LinearTrainer::workers() const {
  return total_workers(options_.workers, manager_.ranks());
}

const Penalty* LinearTrainer::dual_penalty() const {
  return has_dual_variables(options_.solver.solver) ? &problem_.penalty : nullptr;
}

bool LinearTrainer::has_converged() const {
  return !epochs_.empty() && epochs_.back().error <= options_.error_to_reach();
}

void LinearTrainer::run(const std::function<void(const LinearEpoch&)>& on_epoch, TrainingJob* job) {
  if (job != nullptr) resume(*job);
  const auto state = [this] { return saved_state(); };
  start();
  while (epochs_.back().epoch < options_.max_epochs() && !has_converged()) {
    run_epoch();
    if (on_epoch) on_epoch(epochs_.back());
    require_healthy(manager_.server(),
                    {.epoch = epochs_.back().epoch,
                     .rate = options_.solver.step_scale,
                     .rate_option = "--step-scale",
                     .loss = epochs_.back().objective,
                     .loss_of_nothing = objective_of_nothing_.value_or(epochs_.front().objective),
                     .tables = {}},
                    job);
    if (epochs_.back().epoch == options_.max_epochs() || has_converged()) break;
    has_stopped_ = job != nullptr && job->pause(progress(), state);
    if (has_stopped_) return;
  }
  if (job != nullptr) job->finish(progress(), state);
}

void LinearTrainer::set_initial(std::function<InitialWeights()> initial) {
  if (has_dual_variables(options_.solver.solver)) {
    throw ConfigurationError(
        fmt::format("--initial: the solver {} starts from dual variables, which a model does not have: "
                    "expected another solver",
                    to_string(options_.solver.solver)));
  }
  initial_ = std::move(initial);
}

void LinearTrainer::take_initial() {
  const InitialWeights initial = initial_();
  manager_.server().run_workers(local_workers_, [&](Worker& worker) {
    const std::span<const Key> keys = solvers_[worker.local_index()]->samples().keys();
    std::vector<double> weights;
    weights.reserve(keys.size());
    for (const Key key : keys) weights.push_back(initial.weights[key.value()]);
    // Several workers set a weight, to the same number.
    worker.set(tables_.weights, keys, weights).wait();
    worker.sync_barrier();
  });
}

void LinearTrainer::start() {
  LinearEpoch record;
  const auto nothing = [](adapm::IntentWorker&, LinearSolver&) {};
  ModelMeasures measures = measure(record, nothing);
  // A resumed training has the record.
  if (!epochs_.empty()) return;
  first_gradient_ = std::sqrt(measures.squared_gradient);
  objective_of_nothing_ = measures.objective(problem_);
  if (initial_) {
    take_initial();
    measures = measure(record, nothing);
  }
  evaluate(record, measures);
  epochs_.push_back(record);
}

void LinearTrainer::run_epoch() {
  const std::uint64_t number = epochs_.back().epoch;  // from 0
  LinearEpoch record;
  record.epoch = number + 1;
  record.passes = epochs_.back().passes + passes_of(options_.solver, number);
  const ModelMeasures measures = measure(
      record, [&](adapm::IntentWorker& worker, LinearSolver& solver) { solver.run_steps(worker, number); });
  evaluate(record, measures);
  epochs_.push_back(record);
}

ModelMeasures LinearTrainer::measure(LinearEpoch& record,
                                     const std::function<void(adapm::IntentWorker&, LinearSolver&)>& before) {
  ModelMeasures measures;
  record.cost = run_measured(manager_, local_workers_, tables_.ids(), epoch_name(record.epoch),
                             [&](adapm::IntentWorker& worker) {
                               LinearSolver& solver = *solvers_[worker.local_index()];
                               before(worker, solver);
                               const ModelMeasures found = solver.measure(worker);
                               if (worker.local_index() == 0) measures = found;
                             });
  for (std::int32_t rank = 0; rank < manager_.ranks(); ++rank)
    if (workers_of(options_.workers, Rank{rank}) == 0) return of_workers(measures);
  return measures;
}

ModelMeasures LinearTrainer::of_workers(const ModelMeasures& measures) const {
  const auto own = [&] {
    if (local_workers_ == 0) return std::string();
    std::string bytes(sizeof measures, '\0');
    std::memcpy(bytes.data(), &measures, sizeof measures);
    return bytes;
  };
  ModelMeasures found;
  for (const std::string& bytes : manager_.server().exchange("measures", own))
    if (!bytes.empty()) std::memcpy(&found, bytes.data(), sizeof found);
  return found;
}

void LinearTrainer::evaluate(LinearEpoch& record, const ModelMeasures& measures) {
  record.objective = measures.objective(problem_);
  if (has_dual_variables(options_.solver.solver)) {
    const double gap = record.objective - (measures.duals - measures.dual_penalty);
    record.error = gap / record.objective;
  } else {
    // With a large L1 penalty, weights 0 are the optimum.
    record.error = std::sqrt(measures.squared_gradient) / (first_gradient_ > 0 ? first_gradient_ : 1);
  }
  record.accuracy = measures.correct / static_cast<double>(problem_.samples);
  if (test_) record.test = test_->quality(tables_, dual_penalty());
}

}  // namespace lapse::apps
