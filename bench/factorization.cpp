// Time of an epoch of matrix factorization: a matrix of 10,000 x 1,000 with 1 million cells, rows and columns
// Zipf distributed (exponent 1.1), rank 32, no biases, single precision. Stochastic gradient descent in
// blocks: each worker visits its cells row by row; one access for the column of a cell and two (pull, push)
// for its row.
//
//   case  ranks x workers of each  metric  plain twin
//   1x1         1 x 1              epoch   one loop in one thread over arrays, same arithmetic, same order of
//   cells 1x2         1 x 2              epoch   the same loop in one thread 2x1         2 x 1 epoch   the
//   same 4x1         4 x 1              epoch   the same
//
// An epoch lasts from one barrier of all workers to the next and contains the barriers and relocations
// between the blocks. While the plain loop runs on rank 0 the other ranks sleep in the server. 7 runs of one
// epoch.
#include <fmt/format.h>
#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/schedule.hpp"
#include "apps/matrix_factorization/trainer.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 7;
constexpr double kInitialScale = 0.05;

apps::FactorizationProblem make_problem(const Bench& bench) {
  apps::DataOptions data;
  data.test_fraction = 0;
  data.zipf.rows = static_cast<std::uint32_t>(bench.size(10'000, 100));
  data.zipf.columns = static_cast<std::uint32_t>(bench.size(1'000, 50));
  data.zipf.cells = bench.size(1'000'000, 2'000);
  data.zipf.exponent = 1.1;
  return apps::load_problem(data);
}

apps::TrainingOptions training_options(std::int32_t workers) {
  apps::TrainingOptions options;
  options.workers = {workers};
  options.rank = 32;
  options.biases = false;
  options.initial_scale = kInitialScale;
  return options;
}

// The program that one would write without a server.
class PlainFactorization {
 public:
  PlainFactorization(const apps::FactorizationProblem& problem, const apps::FactorModel& model)
      : model_(model),
        cells_(problem.train),
        rows_(random_factors(problem.rows, 0)),
        columns_(random_factors(problem.columns, 1)),
        row_change_(model.length()) {
    apps::sort_by_row(cells_);
  }

  void run_epoch(const apps::SgdSteps& steps) {
    const std::size_t length = model_.length();
    for (const io::Cell& cell : cells_) {
      float* const row = rows_.data() + cell.row * length;
      model_.step(row, columns_.data() + cell.column * length, row_change_.data(), cell.value, steps);
      for (std::size_t k = 0; k < length; ++k) row[k] += row_change_[k];
    }
  }

 private:
  std::vector<float> random_factors(std::uint64_t count, std::uint64_t stream) const {
    std::vector<float> factors(count * model_.length());
    RandomEngine random(1, stream);
    for (float& factor : factors) factor = static_cast<float>(kInitialScale * (2 * random.uniform() - 1));
    return factors;
  }

  const apps::FactorModel& model_;
  std::vector<io::Cell> cells_;
  std::vector<float> rows_;
  std::vector<float> columns_;
  std::vector<float> row_change_;
};

void measure_epochs(Bench& bench, std::int32_t workers) {
  const std::string name = fmt::format("{}x{}", bench.ranks(), workers);
  if (!bench.selected(name)) return;
  const apps::FactorizationProblem problem = make_problem(bench);
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  const apps::TrainingOptions options = training_options(workers);
  apps::Trainer trainer(server, problem, options);
  PlainFactorization plain(problem, trainer.model());
  const apps::SgdSteps steps{static_cast<float>(options.learning_rate.initial),
                             static_cast<float>(options.l2_factors), static_cast<float>(options.l2_biases)};

  std::uint64_t epochs = 0;
  bench.measure(
      {name, "epoch", "s", bench.ranks(), workers * bench.ranks()}, kRuns,
      [&] {
        ++epochs;
        return trainer.run_epoch().cost.seconds;
      },
      "plain loop, one thread",
      [&] {
        double seconds = 0;
        server.run_workers(bench.rank() == 0 ? 1 : 0, [&](Worker&) {
          const Clock::time_point begin = Clock::now();
          plain.run_epoch(steps);
          seconds = seconds_between(begin, Clock::now());
        });
        return seconds;
      });
  server.close();
  // Everything was local: the blocks had been brought before.
  std::uint64_t local = 0;
  for (const apps::EpochRecord& record : trainer.epochs()) {
    local += record.cost.accesses.local_pulls + record.cost.accesses.local_pushes;
  }
  expect_count("local accesses", local, epochs * problem.train.size() * 3);
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time of an epoch of matrix factorization", [](Bench& bench) {
    measure_epochs(bench, 1);
    if (bench.ranks() == 1) measure_epochs(bench, 2);
  });
}
