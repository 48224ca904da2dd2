#include "apps/matrix_factorization/column_runner.hpp"

#include <algorithm>
#include <numeric>

#include "lapse/io/loading/shuffle.hpp"

namespace lapse::apps {

ColumnRunner::ColumnRunner(const WorkerTask& task, const RunnerOptions& options)
    : IntentRunner(task, options),
      cells_(column_cells(task.problem, task.schedule, task.first_worker, task.local_workers, task.worker)),
      trainer_(task.factors, task.model) {
  std::vector<std::uint32_t> rows;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (i == 0 || cells_[i].column != cells_[i - 1].column) column_begin_.push_back(i);
    rows.push_back(cells_[i].row);
  }
  column_begin_.push_back(cells_.size());
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (const std::uint32_t row : rows) rows_.push_back(task.factors.row_key(row));
}

void ColumnRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  arrange(epoch);
  run_batches<Batch>(
      worker, [this](Batch& batch, std::size_t number, const auto&, Clock) { make(batch, number); },
      [&](Batch& batch) { static_cast<void>(worker.localize(task_.factors.table, batch.columns)); },
      [&](Batch& batch) { trainer_.train(worker, batch.cells, steps); });
}

void ColumnRunner::arrange(std::uint64_t epoch) {
  RandomEngine random(seed_, epoch * task_.schedule.workers() + task_.worker);
  std::vector<std::size_t> columns(column_begin_.size() - 1);
  std::iota(columns.begin(), columns.end(), std::size_t{0});
  io::shuffle(std::span(columns), random);
  visits_.clear();
  visits_.reserve(cells_.size());
  for (const std::size_t column : columns) {
    const std::size_t begin = column_begin_[column];
    const std::size_t size = column_begin_[column + 1] - begin;
    const auto cells = std::span(std::as_const(cells_)).subspan(begin, size);
    visits_.insert(visits_.end(), cells.begin(), cells.end());
    io::shuffle(std::span(visits_).last(size), random);
  }
}

void ColumnRunner::make(Batch& batch, std::size_t number) const {
  batch.cells = cells_of(number);
  batch.columns.clear();
  for (const io::Cell& cell : batch.cells) {
    const Key key = task_.factors.column_key(cell.column);
    if (batch.columns.empty() || batch.columns.back() != key) batch.columns.push_back(key);
  }
}

}  // namespace lapse::apps
