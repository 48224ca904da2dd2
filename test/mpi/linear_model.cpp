// Linear models on several ranks.
#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "apps/linear_model/test_samples.hpp"
#include "apps/linear_model/trainer.hpp"
#include "lapse/core/error.hpp"
#include "test/mpi/application_techniques.hpp"
#include "test/mpi/linear_model_set.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using namespace lapse::test;

namespace {

constexpr double kPrecision = 1e-6;  // of objectives, relative

LinearTrainingOptions small_training(Loss loss, Solver solver, std::vector<std::int32_t> workers = {2}) {
  LinearTrainingOptions options;
  options.loss = loss;
  options.solver.solver = solver;
  options.workers = std::move(workers);
  options.cost = 0.5;
  options.tolerance = has_dual_variables(solver) ? kPrecision : 1e-4;
  options.epochs = 2000;
  return options;
}

// Trains, and checks that the weights are optimal and the trainer's objective is theirs. Returns it.
double check_training(const LinearTrainingOptions& options, double bias = 0,
                      adapm::Technique technique = adapm::Technique::adaptive) {
  CAPTURE(to_string(options.loss), to_string(options.solver.solver), bias);
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(technique));
  LinearTrainer trainer(manager, part_of_samples(manager, options, bias), options);
  trainer.run();
  CHECK(trainer.has_converged());
  const LinearEpoch& last = trainer.epochs().back();
  const Objective objective = objective_at(weights_of(manager, trainer), trainer.problem(), bias);
  CHECK(last.objective == Approx(objective.value).epsilon(1e-9));
  if (is_smooth(options.loss) && options.penalty.l1 == 0) CHECK(objective.bound() < 1e-4 * objective.value);
  // The first record is of weights that are 0.
  const std::vector<double> zero(trainer.problem().keys);
  CHECK(trainer.epochs().front().objective ==
        Approx(objective_at(zero, trainer.problem(), bias).value).epsilon(1e-9));
  CHECK(last.accuracy > 0.8);
  manager.close();
  return last.objective;
}

// The gradient of the smooth part balances the L1 norm, which some weights do not leave.
void check_subgradients(const Objective& objective, double l1, double margin) {
  std::size_t zeros = 0;
  for (std::size_t j = 0; j < kFeatures; ++j) {
    const double weight = objective.weights[j];
    CAPTURE(j, weight, objective.gradient[j]);
    if (weight == 0) {
      ++zeros;
      CHECK(std::abs(objective.gradient[j]) < l1 + margin);
    } else {
      CHECK(objective.gradient[j] == Approx(weight > 0 ? -l1 : l1).margin(margin));
    }
  }
  CHECK(zeros > 3);
  CHECK(zeros < kFeatures);
}

}  // namespace

TEST_CASE("solvers find the optimum") {
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
    const double of_svrg = check_training(small_training(loss, Solver::svrg));
    CHECK(check_training(small_training(loss, Solver::loopless)) == Approx(of_svrg).epsilon(1e-4));
    CHECK(check_training(small_training(loss, Solver::sdca)) == Approx(of_svrg).epsilon(1e-4));
    CHECK(check_training(small_training(loss, Solver::svrg, {1})) == Approx(of_svrg).epsilon(1e-4));
  }
}

TEST_CASE("the hinge loss has a duality gap") {
  // The gap of an optimum is closed, whatever the number of workers.
  LinearTrainingOptions options = small_training(Loss::hinge, Solver::sdca);
  options.tolerance = 1e-4;
  const double objective = check_training(options);
  options.workers = {1};
  CHECK(check_training(options) == Approx(objective).epsilon(2e-4));
}

TEST_CASE("an elastic net sets weights to zero") {
  LinearTrainingOptions options = small_training(Loss::logistic, Solver::sdca);
  options.penalty = {.l1 = 0.9, .l2 = 0.1};
  options.cost = 0.2;
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  LinearTrainer trainer(manager, part_of_samples(manager, options), options);
  trainer.run();
  CHECK(trainer.has_converged());
  const Objective objective = objective_at(weights_of(manager, trainer), trainer.problem());
  CHECK(trainer.epochs().back().objective == Approx(objective.value).epsilon(1e-9));
  check_subgradients(objective, options.penalty.l1, 0.05);
  manager.close();
}

TEST_CASE("an L1 penalty sets weights to zero, exactly") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::int32_t> workers(static_cast<std::size_t>(ranks), 0);
  workers.back() = 1;
  check_training(small_training(Loss::squared_hinge, Solver::saga, workers));
  LinearTrainingOptions options = small_training(Loss::logistic, Solver::saga, workers);
  options.penalty = {.l1 = 1, .l2 = 0};
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  LinearTrainer trainer(manager, part_of_samples(manager, options), options);
  trainer.run();
  CHECK(trainer.has_converged());
  check_subgradients(objective_at(weights_of(manager, trainer), trainer.problem()), options.penalty.l1, 0.01);
  manager.close();
}

TEST_CASE("SGD approaches the optimum, in batches of all workers") {
  const double optimum = check_training(small_training(Loss::logistic, Solver::svrg));
  for (const Consistency consistency : {Consistency::eventual, Consistency::bsp, Consistency::cap(1)}) {
    LinearTrainingOptions options = small_training(Loss::logistic, Solver::sgd);
    options.consistency = consistency;
    options.solver.batch = 8;
    options.solver.batch_growth = 1.1;
    options.epochs = 30;
    options.tolerance = 0;
    adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
    LinearTrainer trainer(manager, part_of_samples(manager, options), options);
    trainer.run();
    const Objective objective = objective_at(weights_of(manager, trainer), trainer.problem());
    CHECK(trainer.epochs().back().objective == Approx(objective.value).epsilon(1e-9));
    CHECK(objective.value >= optimum * (1 - 1e-4));
    CHECK(objective.value < 1.1 * optimum);
    // Every worker makes every step.
    const TableCounters counters = manager.statistics().server.table_total(trainer.tables().weights.id());
    CHECK((counters.clocks > 0) == consistency.staleness().has_value());
    manager.close();
  }
}

TEST_CASE("a bias is trained, and every technique serves") {
  for (const adapm::Technique technique :
       {adapm::Technique::static_partitioning, adapm::Technique::full_replication}) {
    check_training(small_training(Loss::logistic, Solver::svrg), 1, technique);
    check_training(small_training(Loss::squared_hinge, Solver::sdca), 1, technique);
  }
}

TEST_CASE("workers may be on some ranks only, and more than samples") {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::int32_t> workers(static_cast<std::size_t>(ranks), 0);
  workers.back() = 3;
  check_training(small_training(Loss::logistic, Solver::svrg, workers));
  check_training(small_training(Loss::logistic, Solver::sdca, workers));
  // Some have no sample: they end like the others.
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  workers.back() = 250;
  LinearTrainingOptions options = small_training(Loss::logistic, Solver::svrg, workers);
  options.epochs = 2;
  LinearTrainer trainer(manager, part_of_samples(manager, options), options);
  trainer.run();
  CHECK(trainer.epochs().size() == 3);
  manager.close();
}

TEST_CASE("the quality of test samples does not depend on ranks") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  const LinearTrainingOptions options = small_training(Loss::logistic, Solver::svrg);
  LinearTrainer trainer(manager, part_of_samples(manager, options), options);
  const io::DocumentPart part = part_of_rank(options.workers, manager.rank(), manager.ranks());
  trainer.set_test(TestSamples(manager, samples_of(part), trainer.form(), options.workers));
  trainer.run();
  const std::vector<double> weights = weights_of(manager, trainer);
  std::vector<Prediction> predictions;
  const TrainingSamples data = training_samples({});
  for (std::size_t i = 0; i < kSamples; ++i) {
    double product = 0;
    for (const io::FeatureValue& entry : data.samples.features(i))
      product += static_cast<double>(entry.value) * weights[entry.feature];
    predictions.push_back({product, data.samples.label(i) == data.form.positive});
  }
  const PredictionQuality expected = prediction_quality(predictions);
  const LinearEpoch& last = trainer.epochs().back();
  REQUIRE(last.test);
  CHECK(last.test->accuracy == Approx(expected.accuracy));
  CHECK(last.test->accuracy == Approx(last.accuracy));
  CHECK(last.test->auc == Approx(expected.auc));
  manager.close();
}

TEST_CASE("combinations that no solver has are refused on every rank") {
  adapm::ParameterManager manager(MPI_COMM_WORLD, options_with(adapm::Technique::adaptive));
  const auto refused = [&](const LinearTrainingOptions& options) {
    CHECK_THROWS_AS(LinearTrainer(manager, part_of_samples(manager, options), options), ConfigurationError);
  };
  refused(small_training(Loss::hinge, Solver::svrg));
  LinearTrainingOptions options = small_training(Loss::logistic, Solver::sdca);
  options.penalty = {.l1 = 1, .l2 = 0};
  refused(options);
  refused(small_training(Loss::logistic, Solver::svrg, {0}));
  manager.close();
}
