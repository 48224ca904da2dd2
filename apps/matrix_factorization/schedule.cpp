#include "apps/matrix_factorization/schedule.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "lapse/core/random.hpp"
#include "lapse/io/loading/shuffle.hpp"

namespace lapse::apps {

namespace {

// The distinct values of one field of the cells, ascending.
std::vector<std::uint32_t> distinct(std::span<const io::Cell> cells, std::uint32_t io::Cell::*member) {
  std::vector<std::uint32_t> ids(cells.size());
  std::transform(cells.begin(), cells.end(), ids.begin(), [&](const io::Cell& cell) { return cell.*member; });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  ids.shrink_to_fit();
  return ids;
}

}  // namespace

WorkerCells::WorkerCells(std::span<const io::Cell> cells, const BlockSchedule& schedule, std::size_t worker)
    : block_begin_(schedule.workers() + 1) {
  for (const io::Cell& cell : cells) {
    if (schedule.rows.part_of(cell.row) == worker) ++block_begin_[schedule.columns.part_of(cell.column) + 1];
  }
  std::partial_sum(block_begin_.begin(), block_begin_.end(), block_begin_.begin());
  cells_.resize(block_begin_.back());
  std::vector<std::size_t> next(block_begin_.begin(), block_begin_.end() - 1);
  for (const io::Cell& cell : cells) {
    if (schedule.rows.part_of(cell.row) == worker)
      cells_[next[schedule.columns.part_of(cell.column)]++] = cell;
  }
  for (std::size_t b = 0; b < blocks(); ++b) {
    const auto begin = cells_.begin() + static_cast<std::ptrdiff_t>(block_begin_[b]);
    const auto end = cells_.begin() + static_cast<std::ptrdiff_t>(block_begin_[b + 1]);
    sort_by_row(std::span(begin, end));
    columns_.push_back(distinct(block(b), &io::Cell::column));
  }
  rows_ = distinct(cells_, &io::Cell::row);
}

void sort_by_row(std::span<io::Cell> cells) {
  std::stable_sort(cells.begin(), cells.end(), [](const io::Cell& a, const io::Cell& b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });
}

std::vector<io::Cell> column_cells(const FactorizationProblem& problem, const BlockSchedule& schedule,
                                   std::size_t first_worker, std::size_t local_workers, std::size_t worker) {
  const auto is_of_rank = [&](const io::Cell& cell) {
    const std::size_t part = schedule.rows.part_of(cell.row);
    return part >= first_worker && part < first_worker + local_workers;
  };
  std::vector<std::uint32_t> counts(problem.columns);
  for (const io::Cell& cell : problem.train) counts[cell.column] += is_of_rank(cell) ? 1 : 0;
  const BalancedPartition columns(counts, local_workers);
  std::vector<io::Cell> cells;
  for (const io::Cell& cell : problem.train) {
    if (is_of_rank(cell) && columns.part_of(cell.column) == worker - first_worker) cells.push_back(cell);
  }
  std::stable_sort(cells.begin(), cells.end(), [](const io::Cell& a, const io::Cell& b) {
    return std::tie(a.column, a.row) < std::tie(b.column, b.row);
  });
  return cells;
}

double block_imbalance(const FactorizationProblem& problem, const BlockSchedule& schedule) {
  const std::size_t workers = schedule.workers();
  std::vector<std::uint64_t> cells(workers * workers);
  for (const io::Cell& cell : problem.train) {
    ++cells[schedule.rows.part_of(cell.row) * workers + schedule.columns.part_of(cell.column)];
  }
  std::uint64_t longest = 0;
  for (std::size_t subepoch = 0; subepoch < workers; ++subepoch) {
    std::uint64_t largest = 0;
    for (std::size_t worker = 0; worker < workers; ++worker) {
      largest = std::max(largest, cells[worker * workers + schedule.block(worker, subepoch)]);
    }
    longest += largest;
  }
  return static_cast<double>(longest) * static_cast<double>(workers) /
         static_cast<double>(problem.train.size());
}

std::span<const io::Cell> CellVisits::arrange(std::span<const io::Cell> cells, std::uint64_t stream) {
  if (order_ == CellOrder::sorted) return cells;
  shuffled_.assign(cells.begin(), cells.end());
  RandomEngine random(seed_, stream);
  io::shuffle(std::span(shuffled_), random);
  return shuffled_;
}

}  // namespace lapse::apps
