// Time of an epoch of matrix factorization: a matrix of 10,000 x 1,000 with 1 million cells, rows and columns
// Zipf distributed (exponent 1.1), rank 32, no biases, single precision. Stochastic gradient descent in
// blocks: each worker visits its cells row by row.
//
//   case                 ranks x workers of each  metric  plain twin
//   1x1, lease 1x1               1 x 1            epoch   one loop in one thread over arrays
//   1x2, lease 1x2               1 x 2            epoch   the same loop in one thread
//   2x1, lease 2x1               2 x 1            epoch   the same
//   4x1, lease 4x1               4 x 1            epoch   the same
//
// With "lease", a worker leases each block and trains it in place; else there is one access for the column of
// a cell and two (pull, push) for its row. The plain loop does the same arithmetic, and for one worker visits
// the cells in the same order.
//
// An epoch lasts from one barrier of all workers to the next and contains the barriers, relocations and
// leases between and of the blocks. While the plain loop runs on rank 0 the other ranks sleep in the server.
// 7 runs of one epoch. The cells per second of both medians go to standard error.
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

apps::TrainingOptions training_options(std::int32_t workers, apps::BlockAccess access) {
  apps::TrainingOptions options;
  options.workers = {workers};
  options.rank = 32;
  options.biases = false;
  options.initial_scale = kInitialScale;
  options.runner.access = access;
  return options;
}

// The program that one would write without a server.
class PlainFactorization {
 public:
  PlainFactorization(const apps::FactorizationProblem& problem, const apps::FactorModel& model)
      : model_(model),
        cells_(problem.train),
        rows_(random_factors(problem.rows, 0)),
        columns_(random_factors(problem.columns, 1)) {
    apps::sort_by_row(cells_);
  }

  void run_epoch(const apps::SgdSteps& steps) {
    const std::size_t length = model_.length();
    for (const io::Cell& cell : cells_) {
      model_.step(rows_.data() + cell.row * length, columns_.data() + cell.column * length, cell.value,
                  steps);
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
};

// Of the medians; the first epoch of each, to warm up, does not count.
void print_rate(const Bench& bench, std::size_t cells, const std::vector<double>& epochs,
                const std::vector<double>& plain_epochs) {
  if (bench.rank() != 0) return;
  const auto rate = [&](const std::vector<double>& seconds) {
    return static_cast<double>(cells) / quantile({seconds.begin() + 1, seconds.end()}, 0.5) / 1e6;
  };
  fmt::print(stderr, "  {:.1f} million cells/s", rate(epochs));
  if (!plain_epochs.empty()) fmt::print(stderr, ", plain {:.1f}", rate(plain_epochs));
  fmt::print(stderr, "\n");
}

void measure_epochs(Bench& bench, std::int32_t workers, apps::BlockAccess access) {
  const bool leases = access == apps::BlockAccess::lease;
  const std::string name = fmt::format("{}{}x{}", leases ? "lease " : "", bench.ranks(), workers);
  if (!bench.selected(name)) return;
  const apps::FactorizationProblem problem = make_problem(bench);
  ParameterServer server(MPI_COMM_WORLD, quiet_options());
  const apps::TrainingOptions options = training_options(workers, access);
  apps::Trainer trainer(server, problem, options);
  PlainFactorization plain(problem, trainer.model());
  const apps::SgdSteps steps{static_cast<float>(options.learning_rate.initial),
                             static_cast<float>(options.l2_factors), static_cast<float>(options.l2_biases)};

  std::vector<double> epochs;
  std::vector<double> plain_epochs;
  bench.measure(
      {name, "epoch", "s", bench.ranks(), workers * bench.ranks()}, kRuns,
      [&] { return epochs.emplace_back(trainer.run_epoch().cost.seconds); }, "plain loop, one thread",
      [&] {
        double seconds = 0;
        server.run_workers(bench.rank() == 0 ? 1 : 0, [&](Worker&) {
          const Clock::time_point begin = Clock::now();
          plain.run_epoch(steps);
          seconds = seconds_between(begin, Clock::now());
        });
        return plain_epochs.emplace_back(seconds);
      });
  print_rate(bench, problem.train.size(), epochs, plain_epochs);
  server.close();
  // Everything was local: the blocks had been brought before. What is done to leased memory is not counted.
  std::uint64_t local = 0;
  for (const apps::EpochRecord& record : trainer.epochs()) {
    local += record.cost.accesses.local_pulls + record.cost.accesses.local_pushes;
  }
  expect_count("local accesses", local, leases ? 0 : epochs.size() * problem.train.size() * 3);
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time of an epoch of matrix factorization", [](Bench& bench) {
    for (const auto access : {lapse::apps::BlockAccess::pull, lapse::apps::BlockAccess::lease}) {
      measure_epochs(bench, 1, access);
      if (bench.ranks() == 1) measure_epochs(bench, 2, access);
    }
  });
}
