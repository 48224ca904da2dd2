// Time of an epoch of matrix factorization: a matrix of 10,000 x 1,000 with 1 million cells, rows and columns
// Zipf distributed (exponent 1.1), rank 32, no biases, single precision. Stochastic gradient descent in
// blocks: each worker visits its cells row by row.
//
//   case                 ranks x workers of each  metric  baseline
//   1x1                          1 x 1            epoch   hand-written MPI and threads, as many of each
//   1x2, lease 1x2               1 x 2            epoch   the same
//   1x4, lease 1x4               1 x 4            epoch   the same; to compare with 4x1
//   2x1, lease 2x1               2 x 1            epoch   the same
//   4x1, lease 4x1               4 x 1            epoch   the same
//   lease 1x1                    1 x 1            epoch   one loop in one thread over arrays
//   bpr 1x1, 2x1, 4x1            as named         epoch   one loop in one thread over arrays
//
// With "lease", a worker leases each block and trains it in place; otherwise each cell needs one access to
// its column and two (pull, push) to its row. The baselines do the same arithmetic on the cells in the same
// order: at the end of a case, its factors must equal the baseline's, bit for bit.
//
// The cases bpr rank the films of MovieTweetings (apps/data): 127,542 interactions, rank 16, Adagrad with
// rate 0.05, L2 0.05 (biases: 0.01), mode intent. They draw other negatives than the baseline, so NDCG, MAP
// and AUC of both are printed instead. 50 runs.
//
// An epoch lasts from one barrier of all workers to the next, including barriers, relocations, leases and
// messages. 7 runs of one epoch. Prints the cells per second of both medians and the final error to standard
// error.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "apps/matrix_factorization/problem.hpp"
#include "apps/matrix_factorization/ranking/ranking_report.hpp"
#include "apps/matrix_factorization/schedule.hpp"
#include "apps/matrix_factorization/trainer.hpp"
#include "bench/plain_factorization.hpp"
#include "bench/plain_ranking.hpp"
#include "bench/support/bench.hpp"
#include "bench/support/joint_timer.hpp"
#include "bench/support/server.hpp"
#include "lapse/core/error.hpp"

namespace lapse::bench {

namespace {

constexpr std::size_t kRuns = 7;
constexpr std::size_t kRankingRuns = 50;
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

// Collective. The values of the server's table, rows then columns, the same on every rank.
std::vector<float> pull_factors(ParameterServer& server, const apps::FactorTable& factors) {
  std::vector<Key> keys;
  for (std::uint64_t key = 0; key < factors.rows + factors.columns; ++key) keys.emplace_back(key);
  std::vector<float> values(keys.size() * factors.table.length());
  server.run_workers(1, [&](Worker& worker) { worker.pull(factors.table, keys, values).wait(); });
  return values;
}

// A plain program for one thread.
class PlainLoop {
 public:
  PlainLoop(const apps::FactorizationProblem& problem, const apps::FactorModel& model,
            std::vector<float> factors)
      : model_(model), rows_(problem.rows), cells_(problem.train), factors_(std::move(factors)) {
    apps::sort_by_row(cells_);
  }

  // Returns the seconds.
  double run_epoch(const apps::SgdSteps& steps) {
    const Clock::time_point begin = Clock::now();
    const std::size_t length = model_.length();
    float* const columns = factors_.data() + rows_ * length;
    for (const io::Cell& cell : cells_) {
      model_.step(factors_.data() + cell.row * length, columns + cell.column * length, cell.value, steps);
    }
    return seconds_between(begin, Clock::now());
  }
  const std::vector<float>& factors() const { return factors_; }

 private:
  const apps::FactorModel& model_;
  std::uint64_t rows_;
  std::vector<io::Cell> cells_;
  std::vector<float> factors_;
};

// Throws Error unless the baseline has found the same factors, i.e. has done the same work.
void expect_equal(std::span<const float> factors, std::span<const float> baseline) {
  const auto [factor, plain_factor] = std::ranges::mismatch(factors, baseline);
  if (factor == factors.end()) return;
  throw Error(fmt::format("the plain program found other factors: element {} is {}, the server's is {}",
                          plain_factor - baseline.begin(), *plain_factor, *factor));
}

// Prints the cells per second of the median epochs, without the first epoch of each, for warm-up.
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
  adapm::ParameterManager manager(MPI_COMM_WORLD,
                                  {.server = quiet_options(), .technique = adapm::Technique::localize});
  ParameterServer& server = manager.server();
  const apps::TrainingOptions options = training_options(workers, access);
  apps::Trainer trainer(manager, problem, options);
  const apps::SgdSteps steps{static_cast<float>(options.learning_rate.initial),
                             static_cast<float>(options.l2_factors), static_cast<float>(options.l2_biases)};
  const std::vector<float> start = pull_factors(server, trainer.factors());
  PlainLoop loop(problem, trainer.model(), start);
  PlainFactorization by_hand(bench.plain(), static_cast<std::size_t>(workers), problem, trainer.model(),
                             trainer.schedule(), start);
  const bool one_loop = name == "lease 1x1";

  std::vector<double> epochs;
  std::vector<double> plain_epochs;
  bench.measure(
      {.name = name,
       .metric = "epoch",
       .unit = "s",
       .ranks = bench.ranks(),
       .workers = workers * bench.ranks()},
      kRuns, [&] { return epochs.emplace_back(trainer.run_epoch().cost.seconds); },
      one_loop ? "plain loop, one thread" : "hand-written MPI",
      [&] { return plain_epochs.emplace_back(one_loop ? loop.run_epoch(steps) : by_hand.run_epoch(steps)); });
  print_rate(bench, problem.train.size(), epochs, plain_epochs);
  const std::vector<float> found = pull_factors(server, trainer.factors());
  const double error = trainer.evaluate().train_rmse;
  if (bench.rank() == 0) fmt::print(stderr, "  error after {} epochs {:.6f}\n", epochs.size(), error);
  manager.close();
  if (bench.baselines()) expect_equal(found, one_loop ? loop.factors() : by_hand.factors());
  // All accesses were local, because the blocks were localized before. Accesses to leased memory are not
  // counted.
  std::uint64_t local = 0;
  for (const apps::EpochRecord& record : trainer.epochs()) {
    local += record.cost.accesses.local_pulls + record.cost.accesses.local_pushes;
  }
  expect_count("local accesses", local, leases ? 0 : epochs.size() * problem.train.size() * 3);
}

apps::TrainingOptions ranking_options() {
  apps::TrainingOptions options;
  options.ranking.loss = apps::FactorLoss::bpr;
  options.runner.mode = apps::TrainingMode::intent;
  options.update_rule.kind = UpdateRuleKind::adagrad;
  options.learning_rate.initial = 0.05;
  options.learning_rate.decay = 0;  // like the baseline
  options.l2_factors = 0.05;
  options.l2_biases = 0.01;
  options.initial_scale = 0.1;
  return options;
}

void measure_ranking(Bench& bench) {
  const std::string name = fmt::format("bpr {}x1", bench.ranks());
  if (!bench.selected(name)) return;
  apps::DataOptions data;
  data.train_file = LAPSE_RATINGS;
  const apps::FactorizationProblem problem = apps::load_problem(data);
  adapm::ParameterManager manager(MPI_COMM_WORLD, {.server = quiet_options()});
  const apps::TrainingOptions options = ranking_options();
  apps::Trainer trainer(manager, problem, options);
  PlainRanking plain(problem, {.rank = options.rank,
                               .rate = static_cast<float>(options.learning_rate.initial),
                               .l2 = static_cast<float>(options.l2_factors),
                               .l2_biases = static_cast<float>(options.l2_biases),
                               .initial_scale = static_cast<float>(options.initial_scale)});
  std::vector<double> epochs;
  std::vector<double> plain_epochs;
  bench.measure(
      {.name = name, .metric = "epoch", .unit = "s", .ranks = bench.ranks(), .workers = bench.ranks()},
      kRankingRuns, [&] { return epochs.emplace_back(trainer.run_epoch().cost.seconds); },
      "plain loop, one thread", [&] { return plain_epochs.emplace_back(plain.run_epoch()); });
  print_rate(bench, problem.train.size(), epochs, plain_epochs);
  const std::size_t top = options.ranking.top;
  const apps::RankingQuality found = trainer.evaluate_ranking();
  const apps::RankingQuality popular = trainer.evaluate_popularity();
  manager.close();
  if (bench.rank() != 0) return;
  fmt::print(stderr, "  after {} epochs {}\n", epochs.size(), apps::describe(found, top));
  if (bench.baselines()) fmt::print(stderr, "  plain loop {}\n", apps::describe(plain.quality(top), top));
  fmt::print(stderr, "  most popular items {}\n", apps::describe(popular, top));
}

}  // namespace

}  // namespace lapse::bench

int main(int argc, char** argv) {
  using namespace lapse::bench;
  return run_benchmark(argc, argv, "Time of an epoch of matrix factorization", [](Bench& bench) {
    for (const auto access : {lapse::apps::BlockAccess::pull, lapse::apps::BlockAccess::lease}) {
      measure_epochs(bench, 1, access);
      if (bench.ranks() > 1) continue;
      measure_epochs(bench, 2, access);
      measure_epochs(bench, 4, access);
    }
    measure_ranking(bench);
  });
}
