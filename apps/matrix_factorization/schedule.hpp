// Which worker works on which cells, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/common/balanced_partition.hpp"
#include "apps/matrix_factorization/problem.hpp"
#include "lapse/io/matrices/coordinate_matrix.hpp"

namespace lapse::apps {

// The blocks of distributed stochastic gradient descent (Gemulla et al., KDD'11): with W workers, rows and
// columns are divided into W parts each. Worker w owns the rows of part w; in subepoch s it works on its
// cells in the columns of part (w + s) mod W, so that no two workers ever share a row or a column, and after
// W subepochs every cell was visited once.
struct BlockSchedule {
  // workers >= 1.
  BlockSchedule(const FactorizationProblem& problem, std::size_t workers)
      : rows(problem.row_counts, workers), columns(problem.column_counts, workers) {}

  std::size_t workers() const { return rows.parts(); }
  std::size_t block(std::size_t worker, std::size_t subepoch) const {
    return (worker + subepoch) % workers();
  }

  BalancedPartition rows;
  BalancedPartition columns;
};

// The cells of one worker's rows, divided by column block, sorted by row and then column within each block.
// Immutable.
class WorkerCells {
 public:
  // A worker whose number is not in the schedule has no cells.
  WorkerCells(std::span<const io::Cell> cells, const BlockSchedule& schedule, std::size_t worker);

  std::size_t blocks() const { return block_begin_.size() - 1; }
  std::span<const io::Cell> all() const { return cells_; }
  std::span<const io::Cell> block(std::size_t block) const {
    return std::span(cells_).subspan(block_begin_[block], block_begin_[block + 1] - block_begin_[block]);
  }
  // The different columns of the cells of a block, ascending.
  std::span<const std::uint32_t> columns(std::size_t block) const { return columns_[block]; }
  // The different rows of all cells, ascending.
  std::span<const std::uint32_t> rows() const { return rows_; }

 private:
  std::vector<io::Cell> cells_;
  std::vector<std::size_t> block_begin_;
  std::vector<std::vector<std::uint32_t>> columns_;
  std::vector<std::uint32_t> rows_;
};

// By row, then column; equal cells keep their order.
void sort_by_row(std::span<io::Cell> cells);

// The cells of one worker where the cells of a rank's rows are divided among the rank's workers by column,
// evenly; sorted by column. `first_worker` and `local_workers` are those of the rank in the schedule, of
// which `worker` is one.
std::vector<io::Cell> column_cells(const FactorizationProblem& problem, const BlockSchedule& schedule,
                                   std::size_t first_worker, std::size_t local_workers, std::size_t worker);

// How uneven the blocks are: the time of a subepoch is that of its largest block. 1 when all are equal; the
// sum over the subepochs of the largest block's cells, divided by the cells per worker.
double block_imbalance(const FactorizationProblem& problem, const BlockSchedule& schedule);

// The order in which a worker visits cells. `sorted` (by row, then column) finds a row in the cache again and
// again and takes a third to a half of the time of `shuffled`, which is another random order in every epoch.
// On ratings of people both reach the same error in the same epochs; where a few rows have most of the cells,
// `shuffled` needs far fewer.
enum class CellOrder : std::uint8_t { sorted, shuffled };

// Puts cells into visiting order. Belongs to one worker.
class CellVisits {
 public:
  CellVisits(CellOrder order, std::uint64_t seed) : order_(order), seed_(seed) {}

  // `cells` is sorted. The result is valid until the next call, and a function of the cells, the seed and the
  // stream, which is to be another one for every epoch, worker and block.
  std::span<const io::Cell> arrange(std::span<const io::Cell> cells, std::uint64_t stream);

 private:
  CellOrder order_;
  std::uint64_t seed_;
  std::vector<io::Cell> shuffled_;
};

}  // namespace lapse::apps
