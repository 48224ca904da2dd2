// Matrix factorization on several ranks, compared with the same arithmetic on plain arrays.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/common/manager_program.hpp"
#include "apps/matrix_factorization/factor_files.hpp"
#include "apps/matrix_factorization/trainer.hpp"
#include "lapse/core/error.hpp"
#include "lapse/io/npy/npy_reader.hpp"
#include "test/mpi/matrix_factorization_array.hpp"
#include "test/mpi/matrix_factorization_setup.hpp"
#include "test/mpi/server_domains.hpp"
#include "test/support/catch.hpp"

using namespace lapse;
using namespace lapse::apps;
using namespace lapse::test;

namespace {

// Elements [first, first + count) of each value.
std::vector<float> elements_of_all(const std::vector<float>& values, std::size_t length, std::size_t first,
                                   std::size_t count) {
  std::vector<float> elements;
  for (std::size_t begin = first; begin < values.size(); begin += length) {
    const auto from = values.begin() + static_cast<std::ptrdiff_t>(begin);
    elements.insert(elements.end(), from, from + static_cast<std::ptrdiff_t>(count));
  }
  return elements;
}

std::uint64_t remote_accesses(const TableCounters& counters) {
  return counters.remote_pulls + counters.remote_pushes + counters.queued_accesses;
}

}  // namespace

TEST_CASE("training by blocks gives the values of a single thread, bit for bit, and never leaves the rank") {
  const FactorizationProblem problem = zipf_problem();
  const BlockAccess access = GENERATE(BlockAccess::lease, BlockAccess::pull);
  CAPTURE(static_cast<int>(access));
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  for (const auto& workers : worker_layouts(server.ranks())) {
    TrainingOptions options = small_training(TrainingMode::blocking);
    options.workers = workers;
    options.runner.access = access;
    Trainer trainer(manager, problem, options);
    ArrayTraining array{trainer.model(), problem.rows, all_values(server, trainer.factors())};
    trainer.run();
    REQUIRE(trainer.epochs().size() == options.epochs);
    for (const EpochRecord& record : trainer.epochs()) {
      array.epoch(problem, trainer.schedule(), steps_of(options, record.learning_rate));
      CHECK(record.errors->train_rmse == Approx(array.rmse(problem.train)).epsilon(1e-9));
      CHECK(record.errors->test_rmse.value() == Approx(array.rmse(problem.test)).epsilon(1e-9));
      CHECK(remote_accesses(record.cost.accesses) == 0);
      const std::uint64_t pulls = access == BlockAccess::pull ? problem.train.size() : 0;
      CHECK(record.cost.accesses.local_pulls == pulls);
      CHECK(record.cost.accesses.local_pushes == 2 * pulls);
      CHECK(record.cost.seconds > 0);
    }
    CHECK(all_values(server, trainer.factors()) == array.values);
  }
}

TEST_CASE("shuffled cells train as well, and the same for the same number of workers") {
  const FactorizationProblem problem = zipf_problem();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  TrainingOptions options = small_training(TrainingMode::blocking);
  options.runner.order = CellOrder::shuffled;
  std::vector<std::int32_t> all_on_last(static_cast<std::size_t>(server.ranks()), 0);
  all_on_last.back() = 2 * server.ranks();
  options.workers = {2};
  Trainer everywhere(manager, problem, options);
  everywhere.run();
  options.workers = all_on_last;
  options.runner.access = GENERATE(BlockAccess::lease, BlockAccess::pull);
  Trainer last(manager, problem, options);
  last.run();
  CHECK(all_values(server, everywhere.factors()) == all_values(server, last.factors()));
}

TEST_CASE("all ways to train reach the same quality") {
  const FactorizationProblem problem = zipf_problem();
  const TrainingMode mode =
      GENERATE(TrainingMode::blocking, TrainingMode::latency_hiding, TrainingMode::classic);
  CAPTURE(static_cast<int>(mode));
  const DomainMap domains = domains_of_world();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  for (const CellOrder order : {CellOrder::sorted, CellOrder::shuffled}) {
    for (const auto& workers : worker_layouts(server.ranks())) {
      TrainingOptions options = small_training(mode);
      options.workers = workers;
      options.runner.order = order;
      Trainer trainer(manager, problem, options);
      ArrayTraining array{trainer.model(), problem.rows, all_values(server, trainer.factors())};
      trainer.run();
      for (const EpochRecord& record : trainer.epochs()) {
        array.epoch(problem, trainer.schedule(), steps_of(options, record.learning_rate));
      }
      const Errors errors = *trainer.epochs().back().errors;
      // The cells are visited in another order, and workers may read slightly older factors.
      CHECK(errors.train_rmse < 1.3 * array.rmse(problem.train));
      CHECK(errors.test_rmse.value() < 1.3 * array.rmse(problem.test));
      CHECK(errors.train_rmse < 0.6);
      const TableCounters& accesses = trainer.epochs().back().cost.accesses;
      if (mode == TrainingMode::classic) CHECK(accesses.relocations_in == 0);
      if (mode == TrainingMode::classic && domains.domains() > 1) CHECK(remote_accesses(accesses) > 0);
    }
  }
}

TEST_CASE("with one worker, every way to train gives the values of a plain loop") {
  const FactorizationProblem problem = zipf_problem();
  const TrainingMode mode =
      GENERATE(TrainingMode::blocking, TrainingMode::latency_hiding, TrainingMode::classic);
  CAPTURE(static_cast<int>(mode));
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  TrainingOptions options = small_training(mode);
  options.workers.assign(static_cast<std::size_t>(server.ranks()), 0);
  options.workers.back() = 1;
  options.epochs = 2;
  options.runner.batch = 1;
  Trainer trainer(manager, problem, options);
  ArrayTraining array{trainer.model(), problem.rows, all_values(server, trainer.factors())};
  trainer.run();
  for (const EpochRecord& record : trainer.epochs()) {
    array.epoch(problem, trainer.schedule(), steps_of(options, record.learning_rate));
  }
  const std::vector<float> values = all_values(server, trainer.factors());
  REQUIRE(values.size() == array.values.size());
  double largest_difference = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    largest_difference = std::max(largest_difference, std::abs(double{values[i]} - double{array.values[i]}));
  }
  // Changes of remote columns are rounded once more than changes in place.
  CHECK(largest_difference < 1e-4);
}

TEST_CASE("more workers than rows, empty blocks and unknown rows in the test set simply work") {
  const FactorizationProblem problem =
      make_problem(4, 3, {{0, 0, 1}, {1, 0, 2}, {1, 1, 3}}, {{2, 0, 1}, {0, 2, 2}, {3, 2, 3}});
  const TrainingMode mode =
      GENERATE(TrainingMode::blocking, TrainingMode::latency_hiding, TrainingMode::classic);
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  TrainingOptions options = small_training(mode);
  options.workers = {3};
  Trainer trainer(manager, problem, options);
  trainer.run();
  CHECK(trainer.epochs().size() == options.epochs);
  CHECK(std::isfinite(trainer.best()->errors->test_rmse.value()));
  // Neither the row nor the column of cell (3, 2) is known: the prediction is the mean.
  const std::vector<float> values = all_values(server, trainer.factors());
  const std::size_t length = trainer.model().length();
  CHECK(trainer.model().predict(values.data() + 3 * length, values.data() + (4 + 2) * length) ==
        problem.mean);
}

TEST_CASE("no workers at all is an error on every rank, and so is a list of the wrong length") {
  const FactorizationProblem problem = zipf_problem();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  TrainingOptions options = small_training(TrainingMode::blocking);
  options.workers = {0};
  CHECK_THROWS_AS(Trainer(manager, problem, options), UsageError);
  options.workers.assign(static_cast<std::size_t>(server.ranks()) + 1, 1);
  CHECK_THROWS_AS(Trainer(manager, problem, options), ConfigurationError);
}

TEST_CASE("training stops when the test error no longer improves, and says when it diverges") {
  const FactorizationProblem problem = zipf_problem();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  TrainingOptions options = small_training(TrainingMode::blocking);
  options.epochs = 200;
  options.patience = 2;
  options.l2_factors = 0;
  options.learning_rate.decay = 0;
  Trainer trainer(manager, problem, options);
  trainer.run();
  const auto& epochs = trainer.epochs();
  REQUIRE(epochs.size() < 200);
  REQUIRE(epochs.size() > 2);
  CHECK(trainer.best()->epoch == epochs.size() - 2);

  options.learning_rate.initial = 1000;
  Trainer diverging(manager, problem, options);
  CHECK_THROWS_WITH(diverging.run(), Catch::Matchers::Contains("diverged in epoch"));
}

TEST_CASE("the bold driver adapts the learning rate to the training error") {
  const FactorizationProblem problem = zipf_problem();
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  TrainingOptions options = small_training(TrainingMode::blocking);
  options.learning_rate.kind = LearningRateOptions::Kind::bold_driver;
  Trainer trainer(manager, problem, options);
  trainer.run();
  CHECK(trainer.epochs()[1].learning_rate == Approx(0.05 * 1.05));
  CHECK(trainer.epochs().back().errors->train_rmse < trainer.epochs().front().errors->train_rmse);
}

TEST_CASE("the files of the factors hold the values of the table") {
  FactorizationProblem problem = zipf_problem(5000, 40, 3000);
  const bool biases = GENERATE(true, false);
  // With and without ids, as if read from files.
  if (biases) {
    for (std::uint64_t row = 0; row < problem.rows; ++row) problem.row_ids.push_back(row << 40U);
    for (std::uint64_t column = 0; column < problem.columns; ++column)
      problem.column_ids.push_back(column + 7);
  }
  adapm::ParameterManager manager{MPI_COMM_WORLD};
  ParameterServer& server = manager.server();
  TrainingOptions options = small_training(TrainingMode::blocking);
  options.biases = biases;
  options.epochs = 1;
  Trainer trainer(manager, problem, options);
  trainer.run();
  const std::vector<float> values = all_values(server, trainer.factors());
  const std::size_t length = trainer.model().length();
  run_on_rank_0(server, [&](Worker& worker) {
    const auto directory =
        std::filesystem::temp_directory_path() / ("lapse-factors-" + std::to_string(::getpid()));
    std::filesystem::create_directory(directory);
    const std::string prefix = (directory / "out").string();
    FactorFiles files(prefix, problem, trainer.model(), FactorLoss::squared);
    CHECK_FALSE(std::filesystem::exists(prefix + "-rows.npy"));
    files.write(worker, trainer.factors());
    const auto rows = io::read_npy<float>(prefix + "-rows.npy");
    const auto columns = io::read_npy<float>(prefix + "-columns.npy");
    CHECK(rows.shape == io::NpyShape{5000, 5});
    CHECK(columns.shape == io::NpyShape{40, 5});
    std::vector<float> factors = rows.values;
    factors.insert(factors.end(), columns.values.begin(), columns.values.end());
    CHECK(factors == elements_of_all(values, length, 0, 5));
    CHECK(std::filesystem::exists(prefix + "-row-ids.npy") == biases);
    CHECK(std::filesystem::exists(prefix + "-row-biases.npy") == biases);
    if (biases) {
      CHECK(io::read_npy<std::uint64_t>(prefix + "-row-ids.npy").values == problem.row_ids);
      CHECK(io::read_npy<std::uint64_t>(prefix + "-column-ids.npy").values == problem.column_ids);
      std::vector<float> written = io::read_npy<float>(prefix + "-row-biases.npy").values;
      const auto column_biases = io::read_npy<float>(prefix + "-column-biases.npy");
      CHECK(column_biases.shape == io::NpyShape{40});
      written.insert(written.end(), column_biases.values.begin(), column_biases.values.end());
      CHECK(written == elements_of_all(values, length, 5, 1));
    }
    std::filesystem::remove_all(directory);
  });
}
