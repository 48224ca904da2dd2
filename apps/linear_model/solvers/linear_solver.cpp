#include "apps/linear_model/solvers/linear_solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "apps/linear_model/solvers/saga_solver.hpp"
#include "apps/linear_model/solvers/sdca_solver.hpp"
#include "apps/linear_model/solvers/sgd_solver.hpp"
#include "apps/linear_model/solvers/svrg_solver.hpp"
#include "lapse/core/error.hpp"
#include "lapse/io/loading/shuffle.hpp"

namespace lapse::apps {

bool has_dual_variables(Solver solver) {
  return solver == Solver::sdca;
}

double passes_of(const SolverOptions& options, std::uint64_t epoch) {
  constexpr double kPasses = 2;
  switch (options.solver) {
    case Solver::svrg:
      return kPasses;
    case Solver::loopless: {
      // Of a geometric distribution with this mean, in passes; bounded, so that no epoch is endless.
      constexpr double kMaxPasses = 10;
      RandomEngine random(options.seed, epoch);
      return std::min(-std::log(1 - random.uniform()) * kPasses, kMaxPasses);
    }
    case Solver::saga:
    case Solver::sdca: {
      // Few between measures at the beginning, then a number in proportion to those made before.
      const std::uint64_t passes = 1 + epoch / 4;
      return static_cast<double>(passes);
    }
    case Solver::sgd:
      break;
  }
  return 1;
}

Solver default_solver(Loss loss, const Penalty& penalty) {
  if (penalty.l2 == 0) return Solver::saga;
  return is_smooth(loss) && penalty.l1 == 0 ? Solver::svrg : Solver::sdca;
}

void check_solver(Loss loss, const Penalty& penalty, const SolverOptions& options, std::size_t workers) {
  const auto refuse = [&](std::string_view why, std::string_view expected) {
    throw ConfigurationError(
        fmt::format("the solver {} {}, expected {}", to_string(options.solver), why, expected));
  };
  if (options.solver == Solver::sdca) {
    if (penalty.l2 == 0)
      refuse("needs a penalty with an L2 part", "--penalty l2 or elastic-net, or --solver saga");
    return;
  }
  if (!is_smooth(loss)) refuse("needs a loss whose slope is continuous", "another --loss, or --solver sdca");
  if (options.solver == Solver::saga) {
    if (workers != 1)
      refuse(fmt::format("runs on one worker, not on {}", workers), "--workers 1 on one rank");
  } else if (penalty.l1 != 0) {
    refuse("takes no L1 penalty", "--penalty l2, or --solver saga or sdca");
  }
}

std::unique_ptr<LinearSolver> make_solver(const LinearProblem& problem, const ModelTables& tables,
                                          WorkerSamples samples, const SolverOptions& options) {
  if (options.solver == Solver::sdca)
    return std::make_unique<SdcaSolver>(problem, tables, std::move(samples), options);
  if (options.solver == Solver::saga)
    return std::make_unique<SagaSolver>(problem, tables, std::move(samples), options);
  if (options.solver == Solver::sgd)
    return std::make_unique<SgdSolver>(problem, tables, std::move(samples), options);
  return std::make_unique<SvrgSolver>(problem, tables, std::move(samples), options);
}

void reduce(Worker& worker, ModelMeasures& measures) {
  std::array<double, 7> sums{measures.loss,         measures.correct,          measures.l1_norm,
                             measures.squared_norm, measures.squared_gradient, measures.duals,
                             measures.dual_penalty};
  worker.all_reduce(sums);
  measures = {.loss = sums[0],
              .correct = sums[1],
              .l1_norm = sums[2],
              .squared_norm = sums[3],
              .squared_gradient = sums[4],
              .duals = sums[5],
              .dual_penalty = sums[6]};
}

std::vector<std::uint32_t> shuffled(std::size_t n, RandomEngine& random) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  io::shuffle(std::span(order), random);
  return order;
}

}  // namespace lapse::apps
