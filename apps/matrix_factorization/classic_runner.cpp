#include "apps/matrix_factorization/classic_runner.hpp"

#include <algorithm>

namespace lapse::apps {

ClassicRunner::ClassicRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      batch_(options.batch),
      visits_(options.order, options.seed),
      cells_(task.cells.all().begin(), task.cells.all().end()),
      slots_(task.factors.table.keys()),
      row_change_(task.model.length()) {
  sort_by_row(cells_);
}

void ClassicRunner::run(Worker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  std::span<const io::Cell> left = visits_.arrange(cells_, epoch * task_.schedule.workers() + task_.worker);
  while (!left.empty()) {
    const std::size_t size = std::min(batch_, left.size());
    train(worker, left.first(size), steps);
    left = left.subspan(size);
  }
}

void ClassicRunner::train(Worker& worker, std::span<const io::Cell> batch, const SgdSteps& steps) {
  const std::size_t length = task_.model.length();
  keys_.clear();
  slots_.start_batch();
  for (const io::Cell& cell : batch) {
    slots_.slot(task_.factors.row_key(cell.row), keys_);
    slots_.slot(task_.factors.column_key(cell.column), keys_);
  }
  values_.resize(keys_.size() * length);
  worker.pull(task_.factors.table, keys_, values_).wait();
  changes_ = values_;
  for (const io::Cell& cell : batch) {
    float* const row = values_.data() + slots_.slot(task_.factors.row_key(cell.row), keys_) * length;
    float* const column = values_.data() + slots_.slot(task_.factors.column_key(cell.column), keys_) * length;
    task_.model.step(row, column, row_change_.data(), cell.value, steps);
    for (std::size_t k = 0; k < length; ++k) row[k] += row_change_[k];
  }
  for (std::size_t i = 0; i < values_.size(); ++i) changes_[i] = values_[i] - changes_[i];
  static_cast<void>(worker.push(task_.factors.table, keys_, changes_));
}

}  // namespace lapse::apps
