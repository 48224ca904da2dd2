#include "apps/matrix_factorization/classic_runner.hpp"

#include <algorithm>

namespace lapse::apps {

ClassicRunner::ClassicRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      batch_(options.batch),
      visits_(options.order, options.seed),
      cells_(task.cells.all().begin(), task.cells.all().end()),
      slots_(task.factors.table.keys()),
      row_gradient_(task.model.length()),
      column_gradient_(task.model.length()) {
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
  if (task_.factors.takes_gradients) {
    sum_gradients(batch, steps);
    static_cast<void>(worker.push(task_.factors.table, keys_, changes_, steps.scale));
  } else {
    step_one_after_the_other(batch, steps);
    static_cast<void>(worker.push(task_.factors.table, keys_, changes_));
  }
}

void ClassicRunner::step_one_after_the_other(std::span<const io::Cell> batch, const SgdSteps& steps) {
  changes_ = values_;
  for (const io::Cell& cell : batch) {
    float* const row = values_.data() + offset(task_.factors.row_key(cell.row));
    task_.model.step(row, values_.data() + offset(task_.factors.column_key(cell.column)), cell.value, steps);
  }
  for (std::size_t i = 0; i < values_.size(); ++i) changes_[i] = values_[i] - changes_[i];
}

void ClassicRunner::sum_gradients(std::span<const io::Cell> batch, const SgdSteps& steps) {
  const std::size_t length = task_.model.length();
  changes_.assign(values_.size(), 0.0F);
  for (const io::Cell& cell : batch) {
    const std::size_t row = offset(task_.factors.row_key(cell.row));
    const std::size_t column = offset(task_.factors.column_key(cell.column));
    task_.model.gradients(values_.data() + row, values_.data() + column, row_gradient_.data(),
                          column_gradient_.data(), cell.value, steps);
    for (std::size_t k = 0; k < length; ++k) changes_[row + k] += row_gradient_[k];
    for (std::size_t k = 0; k < length; ++k) changes_[column + k] += column_gradient_[k];
  }
}

}  // namespace lapse::apps
