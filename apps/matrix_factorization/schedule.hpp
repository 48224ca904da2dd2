// Schedules cells to workers.
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
// columns are divided into W parts each. Worker w owns the rows of part w. In subepoch s it trains its cells
// in the columns of part (w + s) mod W. So no two workers ever share a row or a column at a time, and every
// cell is visited once in W subepochs.
struct BlockSchedule {
  // Requires workers >= 1.
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
  // A worker with a number outside the schedule has no cells.
  WorkerCells(std::span<const io::Cell> cells, const BlockSchedule& schedule, std::size_t worker);

  std::size_t blocks() const { return block_begin_.size() - 1; }
  std::span<const io::Cell> all() const { return cells_; }
  std::span<const io::Cell> block(std::size_t block) const {
    return std::span(cells_).subspan(block_begin_[block], block_begin_[block + 1] - block_begin_[block]);
  }
  // The distinct columns of the cells of a block, ascending.
  std::span<const std::uint32_t> columns(std::size_t block) const { return columns_[block]; }
  // The distinct rows of all cells, ascending.
  std::span<const std::uint32_t> rows() const { return rows_; }

 private:
  std::vector<io::Cell> cells_;
  std::vector<std::size_t> block_begin_;
  std::vector<std::vector<std::uint32_t>> columns_;
  std::vector<std::uint32_t> rows_;
};

// Sorts by row, then column; stable.
void sort_by_row(std::span<io::Cell> cells);

// The cells of one worker if the cells of a rank's rows are divided evenly among the rank's workers by
// column; sorted by column. The rank's workers in the schedule are `local_workers` from `first_worker` on,
// including `worker`.
std::vector<io::Cell> column_cells(const FactorizationProblem& problem, const BlockSchedule& schedule,
                                   std::size_t first_worker, std::size_t local_workers, std::size_t worker);

// How uneven the blocks are, because the largest block determines the time of a subepoch: the sum over the
// subepochs of the largest block's cells, divided by the cells per worker. 1 if all are equal.
double block_imbalance(const FactorizationProblem& problem, const BlockSchedule& schedule);

// The order in which a worker visits cells. `sorted` (by row, then column) reuses rows in the cache, and
// takes a third to a half of the time of `shuffled`, a new random order in every epoch. On people's ratings
// both reach the same error in the same epochs; if a few rows have most of the cells, `shuffled` needs far
// fewer epochs.
enum class CellOrder : std::uint8_t { sorted, shuffled };

// Puts cells into visiting order. Belongs to one worker.
class CellVisits {
 public:
  CellVisits(CellOrder order, std::uint64_t seed) : order_(order), seed_(seed) {}

  // Requires sorted `cells`. The result is valid until the next call. It depends on the cells, the seed and
  // the stream; use a different stream for every epoch, worker and block.
  std::span<const io::Cell> arrange(std::span<const io::Cell> cells, std::uint64_t stream);

 private:
  CellOrder order_;
  std::uint64_t seed_;
  std::vector<io::Cell> shuffled_;
};

}  // namespace lapse::apps
