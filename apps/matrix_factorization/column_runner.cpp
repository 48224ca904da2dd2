#include "apps/matrix_factorization/column_runner.hpp"

#include <algorithm>
#include <numeric>

#include "io/shuffle.hpp"

namespace lapse::apps {

ColumnRunner::ColumnRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      seed_(options.seed),
      batch_(options.batch.value_or(kIntentBatch)),
      lookahead_(options.lookahead.value_or(task.technique == adapm::Technique::localize ? kLocalizeAhead
                                                                                         : kSignalAhead)),
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

void ColumnRunner::place(Worker& worker) {
  if (task_.technique == adapm::Technique::localize) worker.localize(task_.factors.table, rows_).wait();
}

void ColumnRunner::run(adapm::Worker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  arrange(epoch);
  const std::size_t batches = (visits_.size() + batch_ - 1) / batch_;
  const Clock first = worker.current_clock();
  const auto clock_of = [&](std::size_t number) {
    return Clock(first.value() + static_cast<std::int64_t>(number));
  };
  worker.intent(task_.factors.table, rows_, first, clock_of(batches));
  std::size_t announced = 0;
  for (std::size_t trained = 0; trained < batches; ++trained) {
    for (; announced < std::min(batches, trained + 1 + lookahead_); ++announced)
      announce(worker, announced, clock_of(announced));
    trainer_.train(worker, batch(trained), steps);
    worker.advance_clock();
  }
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

std::span<const io::Cell> ColumnRunner::batch(std::size_t number) const {
  const std::size_t begin = number * batch_;
  return std::span(visits_).subspan(begin, std::min(batch_, visits_.size() - begin));
}

void ColumnRunner::announce(adapm::Worker& worker, std::size_t number, Clock clock) {
  keys_.clear();
  for (const io::Cell& cell : batch(number)) {
    const Key key = task_.factors.column_key(cell.column);
    if (keys_.empty() || keys_.back() != key) keys_.push_back(key);
  }
  if (task_.technique == adapm::Technique::localize) {
    static_cast<void>(worker.localize(task_.factors.table, keys_));
  } else {
    worker.intent(task_.factors.table, keys_, clock, Clock(clock.value() + 1));
  }
}

}  // namespace lapse::apps
