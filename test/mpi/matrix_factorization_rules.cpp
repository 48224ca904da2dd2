// Matrix factorization with the server's update rules, compared with the same rules on plain arrays.
#include <mpi.h>

#include <vector>

#include "apps/matrix_factorization/trainer.hpp"
#include "test/mpi/matrix_factorization_rule_array.hpp"
#include "test/mpi/matrix_factorization_setup.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using namespace lapse::test;

namespace {

TrainingOptions rule_training(UpdateRuleKind kind, TrainingMode mode) {
  TrainingOptions options = small_training(mode);
  options.epochs = 4;
  options.update_rule.kind = kind;
  options.update_rule.initial_accumulator = 0.1;
  if (kind == UpdateRuleKind::adam) options.learning_rate.initial = 0.01;
  return options;
}

// Trains, and compares all values with the array's.
void compare_with_array(adapm::ParameterManager& manager, const FactorizationProblem& problem,
                        const TrainingOptions& options, std::size_t batch) {
  Trainer trainer(manager, problem, options);
  RuleArrayTraining array(trainer.model(), problem.rows, all_values(manager.server(), trainer.factors()),
                          make_update_rule(options.update_rule, options.learning_rate.initial));
  trainer.run();
  REQUIRE(trainer.epochs().size() == options.epochs);
  for (const EpochRecord& record : trainer.epochs()) {
    SgdSteps steps = steps_of(options, record.learning_rate);
    steps.scale = static_cast<float>(record.learning_rate / options.learning_rate.initial);
    array.epoch(problem, trainer.schedule(), steps, batch);
  }
  CHECK(all_values(manager.server(), trainer.factors()) == array.values());
  CHECK(trainer.epochs().back().errors->train_rmse < trainer.epochs().front().errors->train_rmse);
}

UpdateRuleKind every_optimiser() {
  return GENERATE(UpdateRuleKind::sgd, UpdateRuleKind::adagrad, UpdateRuleKind::rowwise_adagrad,
                  UpdateRuleKind::adam, UpdateRuleKind::ftrl);
}

}  // namespace

TEST_CASE("blocks with an optimiser give the values of a single thread, bit for bit") {
  const FactorizationProblem problem = zipf_problem();
  const UpdateRuleKind kind = every_optimiser();
  const BlockAccess access = GENERATE(BlockAccess::lease, BlockAccess::pull);
  CAPTURE(static_cast<int>(kind), static_cast<int>(access));
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  for (const auto& workers : worker_layouts(server.ranks())) {
    TrainingOptions options = rule_training(kind, TrainingMode::blocking);
    options.workers = workers;
    options.runner.access = access;
    compare_with_array(manager, problem, options, 1);
  }
}

TEST_CASE("with one worker, the other ways to train do so too, and sum the gradients of a batch") {
  const FactorizationProblem problem = zipf_problem();
  const UpdateRuleKind kind = every_optimiser();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  const auto compare = [&](TrainingMode mode, std::size_t batch) {
    CAPTURE(static_cast<int>(kind), static_cast<int>(mode), batch);
    TrainingOptions options = rule_training(kind, mode);
    options.workers.assign(static_cast<std::size_t>(server.ranks()), 0);
    options.workers.back() = 1;
    options.runner.batch = batch;
    compare_with_array(manager, problem, options, batch);
  };
  compare(TrainingMode::latency_hiding, 1);
  compare(TrainingMode::classic, 1);
  compare(TrainingMode::classic, 7);
}

TEST_CASE("several workers at once reduce the error with every optimiser, wherever the factors are") {
  const FactorizationProblem problem = zipf_problem();
  const UpdateRuleKind kind = every_optimiser();
  const TrainingMode mode = GENERATE(TrainingMode::latency_hiding, TrainingMode::classic);
  CAPTURE(static_cast<int>(kind), static_cast<int>(mode));
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  TrainingOptions options = rule_training(kind, mode);
  options.workers = {2};
  Trainer trainer(manager, problem, options);
  trainer.run();
  CHECK(trainer.epochs().back().errors->train_rmse < trainer.epochs().front().errors->train_rmse);
}
