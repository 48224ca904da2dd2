// The matrix to factorize: cells to train on, and cells held out.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "lapse/io/loading/reader_group.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"
#include "lapse/io/matrices/zipf_matrix.hpp"

namespace lapse::apps {

// Where the cells come from.
struct DataOptions {
  // Rating files, plain or compressed; "-": standard input.
  std::string train_file;                                            // empty: a generated matrix
  std::string test_file;                                             // empty: a part of the cells is held out
  std::uint64_t max_id = std::numeric_limits<std::uint64_t>::max();  // of users and items of files
  double test_fraction = 0.1;
  std::uint64_t seed = 1;  // of the choice of the held-out cells
  io::ZipfMatrixOptions zipf;
  std::int32_t host_ranks = 1;  // so many ranks of this host hold the matrix, each for itself
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
  // Of the files, for each row and column; ascending. Empty for a generated matrix.
  std::vector<std::uint64_t> row_ids;
  std::vector<std::uint64_t> column_ids;
};

// Fills in means and counts. Throws UsageError when there are no cells to train on, or cells outside the
// matrix.
FactorizationProblem make_problem(std::uint64_t rows, std::uint64_t columns, std::vector<io::Cell> train,
                                  std::vector<io::Cell> test);

// Collective over the group, every rank of which gets the whole problem. Reads (io::shared_inputs) or
// generates. Rows and columns of files are the ids that occur in either, in ascending order. Every cell is
// held out with probability test_fraction, the same cells for equal seeds. Throws FileError,
// ConfigurationError when both files are one stream or only the test ratings are a file, OutOfMemory, for a
// generated matrix before it is made, and as make_problem does.
FactorizationProblem load_problem(const DataOptions& options, const io::ReaderGroup& group = {});

}  // namespace lapse::apps
