// The matrix to factorize: cells to train on, and cells held out.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "lapse/io/loading/reader_group.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"
#include "lapse/io/matrices/zipf_matrix.hpp"
#include "lapse/io/text/table_columns.hpp"
#include "lapse/io/vocabulary/row_ids.hpp"
#include "lapse/io/vocabulary/vocabulary.hpp"

namespace lapse::apps {

// The source of the cells.
struct DataOptions {
  // Rating files, plain or compressed; "-": standard input.
  std::string train_file;                                            // empty: a generated matrix
  std::string test_file;                                             // empty: holds out a part of the cells
  std::uint64_t max_id = std::numeric_limits<std::uint64_t>::max();  // of users and items of files
  std::vector<std::string> columns = {};                             // io::RatingFileOptions
  std::string separator = {};
  io::IdKind ids = io::IdKind::found;
  double test_fraction = 0.1;
  std::uint64_t seed = 1;  // for the choice of the held-out cells
  // Cells are interactions, and ratings below this one are none; nullopt: all cells are kept.
  std::optional<double> positive_from = {};
  io::ZipfMatrixOptions zipf;
  std::int32_t host_ranks = 1;  // ranks of this host that hold a copy of the matrix
};

struct FactorizationProblem {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::vector<io::Cell> train;
  std::vector<io::Cell> test;
  float mean = 0;  // of the training cells
  // Training cells of each row and column.
  std::vector<std::uint32_t> row_counts;
  std::vector<std::uint32_t> column_counts;
  // Ids in the files, for each row and column; ascending. Empty for a generated matrix, and for names.
  std::vector<std::uint64_t> row_ids = {};
  std::vector<std::uint64_t> column_ids = {};
  // Names, likewise, in the order of their bytes. Empty if the ids are numbers.
  io::Vocabulary row_names = {};
  io::Vocabulary column_names = {};
  // Cells to train on and held out that were left out, as ratings below DataOptions::positive_from.
  std::uint64_t left_out = 0;
  // Which columns and separator the user gave.
  io::TableFormat format = {};
  // How the files were understood, line by line.
  std::vector<std::string> layouts = {};
};

// Fills in means and counts. Throws UsageError if there are no training cells, or cells outside the matrix.
FactorizationProblem make_problem(std::uint64_t rows, std::uint64_t columns, std::vector<io::Cell> train,
                                  std::vector<io::Cell> test);

// Collective over the group. Every rank gets the whole problem, read (io::shared_inputs) or generated. Rows
// and columns are the ids that occur in either file, in ascending order. Every cell is held out with
// probability test_fraction, the same cells for equal seeds, then ratings below positive_from are left out.
// Throws FileError; ConfigurationError if both files are one stream, only the test ratings are a file, or no
// rating to train on reaches positive_from; OutOfMemory, for a generated matrix before it is
// made; and what make_problem throws.
FactorizationProblem load_problem(const DataOptions& options, const io::ReaderGroup& group = {});

}  // namespace lapse::apps
