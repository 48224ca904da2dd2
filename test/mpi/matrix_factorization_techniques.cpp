// Matrix factorization with intents, under every technique of management.
#include <mpi.h>

#include "test/mpi/application_techniques.hpp"
#include "test/mpi/matrix_factorization_array.hpp"
#include "test/mpi/matrix_factorization_setup.hpp"

using namespace lapse;
using namespace lapse::apps;
using lapse::test::ArrayTraining;

TEST_CASE("matrix factorization with intents reaches the quality of a plain loop under every technique") {
  const adapm::Technique technique = GENERATE(from_range(adapm::kTechniques));
  CAPTURE(adapm::to_string(technique));
  const FactorizationProblem problem = lapse::test::zipf_problem();
  adapm::ParameterManager manager(MPI_COMM_WORLD, lapse::test::options_with(technique));
  for (const auto& workers : lapse::test::worker_layouts(manager.ranks())) {
    TrainingOptions options = lapse::test::small_training(TrainingMode::intent);
    options.workers = workers;
    options.runner.batch = 16;
    // Epochs take milliseconds: if the system lets one worker run alone, the others' replicas lack all that
    // it does in an epoch, and the sum of their steps must not overshoot even then. For a column of 130
    // cells and nine workers that takes a quarter of the rate with which one worker learns well.
    const bool copies_all = technique == adapm::Technique::full_replication;
    if (copies_all) {
      options.learning_rate.initial /= 20;
    } else if (lapse::test::replicates(technique)) {
      options.learning_rate.initial /= 4;
      options.epochs *= 2;
    }
    Trainer trainer(manager, problem, options);
    ArrayTraining array{trainer.model(), problem.rows,
                        lapse::test::all_values(manager.server(), trainer.factors())};
    const double untrained = trainer.evaluate().train_rmse;
    trainer.run();
    for (const EpochRecord& record : trainer.epochs())
      array.epoch(problem, trainer.schedule(), lapse::test::steps_of(options, record.learning_rate));
    const Errors errors = *trainer.epochs().back().errors;
    CHECK(errors.train_rmse < untrained);
    // The cells are visited in another order, and workers may read slightly older factors.
    if (!copies_all) {
      CHECK(errors.train_rmse < 3 * array.rmse(problem.train));
      CHECK(errors.test_rmse.value() < 3 * array.rmse(problem.test));
    }
    lapse::test::check_ways(technique, lapse::test::accesses_of(trainer));
  }
  manager.close();
}
