#include "apps/matrix_factorization/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/common/held_out_overlap.hpp"
#include "apps/common/required_memory.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/random.hpp"
#include "lapse/io/files/file_descriptor.hpp"
#include "lapse/io/loading/shared_inputs.hpp"
#include "lapse/io/matrices/rating_file.hpp"

namespace lapse::apps {

namespace {

// Moves about this fraction of the cells to a separate list; the rest keeps its order.
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

// Returns the number of cells that were left out.
std::uint64_t keep_positive(std::vector<io::Cell>& train, std::vector<io::Cell>& test,
                            const DataOptions& options) {
  if (!options.positive_from) return 0;
  // Rounded like the ratings, so that 0.7 is not below 0.7.
  const auto least = static_cast<float>(*options.positive_from);
  const auto is_below = [&](const io::Cell& cell) { return cell.value < least; };
  if (!train.empty() && std::ranges::all_of(train, is_below)) {
    throw ConfigurationError(fmt::format("no rating to train on is {} or higher: the highest is {}",
                                         *options.positive_from,
                                         std::ranges::max_element(train, {}, &io::Cell::value)->value));
  }
  return std::erase_if(train, is_below) + std::erase_if(test, is_below);
}

void check_inside(const std::vector<io::Cell>& cells, std::uint64_t rows, std::uint64_t columns) {
  for (const io::Cell& cell : cells) {
    if (cell.row >= rows || cell.column >= columns) {
      throw UsageError(
          fmt::format("cell ({}, {}) outside a matrix of {} x {}", cell.row, cell.column, rows, columns));
    }
  }
}

void translate(std::vector<io::Cell>& cells, const std::vector<io::IdIndex::Index>& rows,
               const std::vector<io::IdIndex::Index>& columns) {
  for (io::Cell& cell : cells) {
    cell.row = rows[cell.row];
    cell.column = columns[cell.column];
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

namespace {

FactorizationProblem generate(const DataOptions& options) {
  const io::ZipfMatrixOptions& zipf = options.zipf;
  // During generation, each row and column has an id and the generating factors; then a count and a worker.
  // Workers have copies of their cells.
  const auto ids = static_cast<double>(std::uint64_t{zipf.rows} + zipf.columns);
  const double bytes =
      sizeof(float) * (zipf.rank + 4.0) * ids + 2.0 * sizeof(io::Cell) * static_cast<double>(zipf.cells);
  require_memory(
      fmt::format("a generated matrix of {} x {} with {} cells", zipf.rows, zipf.columns, zipf.cells), bytes,
      options.host_ranks);
  io::CoordinateMatrix matrix = io::make_zipf_matrix(zipf);
  std::vector<io::Cell> test = hold_out(matrix.cells, options.test_fraction, options.seed);
  const std::uint64_t left_out = keep_positive(matrix.cells, test, options);
  FactorizationProblem problem =
      make_problem(matrix.rows, matrix.columns, std::move(matrix.cells), std::move(test));
  problem.left_out = left_out;
  return problem;
}

FactorizationProblem read_files(const DataOptions& options, const io::ReaderGroup& group) {
  const auto inputs = io::shared_inputs({options.train_file, options.test_file}, group);
  const io::RatingFileOptions format{.columns = options.columns,
                                     .separator = options.separator,
                                     .ids = options.ids,
                                     .max_user_id = options.max_id,
                                     .max_item_id = options.max_id};
  io::RatingIds ids;
  std::vector<std::string> layouts;
  const auto read = [&](const io::Input& input) {
    io::CoordinateMatrix matrix = io::read_ratings(input, ids, format);
    layouts.push_back(fmt::format("{}: {}", io::input_name(input.path()), matrix.layout));
    for (const std::string& warning : matrix.warnings) group.warn(warning);
    return std::move(matrix.cells);
  };
  std::vector<io::Cell> train = read(inputs[0]);
  std::vector<io::Cell> test =
      options.test_file.empty() ? hold_out(train, options.test_fraction, options.seed) : read(inputs[1]);
  if (!options.test_file.empty() && group.is_first) {
    const auto position = [](const io::Cell& cell) { return std::pair(cell.row, cell.column); };
    if (const std::string warning = overlap_warning(test, train, "ratings", position); !warning.empty())
      group.warn(fmt::format("{}: {}", io::input_name(options.test_file), warning));
  }
  const std::uint64_t left_out = keep_positive(train, test, options);
  const auto rows = ids.users.sort();
  const auto columns = ids.items.sort();
  translate(train, rows, columns);
  translate(test, rows, columns);
  FactorizationProblem problem = make_problem(rows.size(), columns.size(), std::move(train), std::move(test));
  problem.row_ids = ids.users.ids();
  problem.column_ids = ids.items.ids();
  problem.row_names = ids.users.names();
  problem.column_names = ids.items.names();
  problem.left_out = left_out;
  problem.layouts = std::move(layouts);
  problem.format = {options.columns, options.separator};
  return problem;
}

}  // namespace

FactorizationProblem load_problem(const DataOptions& options, const io::ReaderGroup& group) {
  if (options.train_file.empty() && !options.test_file.empty()) {
    throw ConfigurationError(
        "test ratings without training ratings: their ids mean no row of a generated matrix");
  }
  return options.train_file.empty() ? generate(options) : read_files(options, group);
}

}  // namespace lapse::apps
