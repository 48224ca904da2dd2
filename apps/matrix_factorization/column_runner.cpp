#include "apps/matrix_factorization/column_runner.hpp"

#include <algorithm>
#include <deque>
#include <numeric>

#include "lapse/io/loading/prefetching_loader.hpp"
#include "lapse/io/loading/shuffle.hpp"

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
  if (localizes()) worker.localize(task_.factors.table, rows_).wait();
}

void ColumnRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  arrange(epoch);
  const Table<float>& table = task_.factors.table;
  const Clock first = worker.current_clock();
  const auto clock_of = [&](std::size_t number) {
    return Clock(first.value() + static_cast<std::int64_t>(number));
  };
  const bool signals = !localizes() && worker.ranks() > 1;
  if (signals) worker.intent(table, rows_, first, clock_of(batches()));
  const std::size_t ahead = localizes() ? lookahead_ : 0;
  const auto make_next = [&, intents = worker.loader()](Batch& batch, std::uint64_t number) {
    if (number == batches()) return false;
    make(batch, number);
    if (signals) intents.intent(table, batch.columns, clock_of(number), clock_of(number + 1));
    return true;
  };
  io::PrefetchingLoader<Batch> loader({.ahead = lookahead_, .held = ahead + 1}, make_next);
  std::deque<const Batch*> held;  // to be trained
  std::size_t taken = 0;
  for (std::size_t trained = 0; trained < batches(); ++trained) {
    for (; taken < std::min(batches(), trained + 1 + ahead); ++taken) {
      held.push_back(loader.next());
      if (localizes()) static_cast<void>(worker.localize(table, held.back()->columns));
    }
    trainer_.train(worker, held.front()->cells, steps);
    held.pop_front();
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

void ColumnRunner::make(Batch& batch, std::size_t number) const {
  const std::size_t begin = number * batch_;
  batch.cells = std::span(visits_).subspan(begin, std::min(batch_, visits_.size() - begin));
  batch.columns.clear();
  for (const io::Cell& cell : batch.cells) {
    const Key key = task_.factors.column_key(cell.column);
    if (batch.columns.empty() || batch.columns.back() != key) batch.columns.push_back(key);
  }
}

}  // namespace lapse::apps
