#include "apps/matrix_factorization/baseline.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace lapse::apps {

namespace {

using Biases = std::vector<double>;

// The best biases of one side (rows or columns, selected by the member pointers), given those of the other.
Biases solve(const FactorizationProblem& problem, std::uint32_t io::Cell::*side,
             std::uint32_t io::Cell::*other_side, const std::vector<std::uint32_t>& counts,
             const Biases& other, double l2) {
  Biases biases(counts.size());
  for (const io::Cell& cell : problem.train) {
    biases[cell.*side] += double{cell.value} - double{problem.mean} - other[cell.*other_side];
  }
  for (std::size_t i = 0; i < biases.size(); ++i) {
    if (counts[i] != 0) biases[i] /= l2 + counts[i];
  }
  return biases;
}

double test_rmse(const FactorizationProblem& problem, const Biases& rows, const Biases& columns) {
  if (problem.test.empty()) return 0;
  double squares = 0;
  for (const io::Cell& cell : problem.test) {
    const double error = double{cell.value} - double{problem.mean} - rows[cell.row] - columns[cell.column];
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(problem.test.size()));
}

}  // namespace

Baselines compute_baselines(const FactorizationProblem& problem, double l2, int rounds) {
  Biases rows(problem.rows);
  Biases columns(problem.columns);
  Baselines baselines;
  baselines.mean = test_rmse(problem, rows, columns);
  for (int round = 0; round < rounds; ++round) {
    rows = solve(problem, &io::Cell::row, &io::Cell::column, problem.row_counts, columns, l2);
    columns = solve(problem, &io::Cell::column, &io::Cell::row, problem.column_counts, rows, l2);
  }
  baselines.biases = test_rmse(problem, rows, columns);
  return baselines;
}

}  // namespace lapse::apps
