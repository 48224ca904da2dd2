#include "apps/matrix_factorization/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/rating_file.hpp"
#include "io/shared_inputs.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"

namespace lapse::apps {

namespace {

// Moves about a fraction of the cells to a list of their own; the rest keeps its order.
std::vector<io::Cell> hold_out(std::vector<io::Cell>& cells, double fraction, std::uint64_t seed) {
  std::vector<io::Cell> held_out;
  const PositionalRandom random(seed);
  std::uint64_t position = 0;
  std::erase_if(cells, [&](const io::Cell& cell) {
    const bool chosen = random.uniform(Key{position++}, 0) < fraction;
    if (chosen) held_out.push_back(cell);
    return chosen;
  });
  return held_out;
}

void check_inside(const std::vector<io::Cell>& cells, std::uint64_t rows, std::uint64_t columns) {
  for (const io::Cell& cell : cells) {
    if (cell.row >= rows || cell.column >= columns) {
      throw UsageError(
          fmt::format("cell ({}, {}) outside a matrix of {} x {}", cell.row, cell.column, rows, columns));
    }
  }
}

}  // namespace

FactorizationProblem make_problem(std::uint64_t rows, std::uint64_t columns, std::vector<io::Cell> train,
                                  std::vector<io::Cell> test) {
  if (train.empty()) throw UsageError("no cells to train on: the matrix is empty or all cells are held out");
  check_inside(train, rows, columns);
  check_inside(test, rows, columns);
  FactorizationProblem problem{rows, columns, std::move(train), std::move(test), 0, {}, {}};
  problem.row_counts.resize(rows);
  problem.column_counts.resize(columns);
  double sum = 0;
  for (const io::Cell& cell : problem.train) {
    ++problem.row_counts[cell.row];
    ++problem.column_counts[cell.column];
    sum += cell.value;
  }
  problem.mean = static_cast<float>(sum / static_cast<double>(problem.train.size()));
  return problem;
}

FactorizationProblem load_problem(const DataOptions& options, const io::ReaderGroup& group) {
  const auto inputs = io::shared_inputs({options.train_file, options.test_file}, group);
  const io::RatingFileOptions limits{.max_row_id = options.max_id, .max_column_id = options.max_id};
  io::CoordinateMatrix matrix =
      options.train_file.empty() ? io::make_zipf_matrix(options.zipf) : io::read_ratings(inputs[0], limits);
  io::CoordinateMatrix test;
  if (options.test_file.empty()) {
    test.cells = hold_out(matrix.cells, options.test_fraction, options.seed);
  } else {
    test = io::read_ratings(inputs[1], limits);
  }
  return make_problem(std::max(matrix.rows, test.rows), std::max(matrix.columns, test.columns),
                      std::move(matrix.cells), std::move(test.cells));
}

}  // namespace lapse::apps
