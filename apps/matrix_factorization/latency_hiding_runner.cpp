#include "apps/matrix_factorization/latency_hiding_runner.hpp"

#include <algorithm>

#include "apps/matrix_factorization/cell_trainer.hpp"

namespace lapse::apps {

LatencyHidingRunner::LatencyHidingRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      lookahead_(options.lookahead.value_or(kLookaheadCells)),
      visits_(options.order, options.seed),
      cells_(task.cells.all().begin(), task.cells.all().end()),
      last_window_(task.factors.columns) {
  sort_by_row(cells_);
}

void LatencyHidingRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  CellTrainer trainer(worker, task_.factors, task_.model);
  std::span<const io::Cell> ahead = visits_.arrange(cells_, epoch * task_.schedule.workers() + task_.worker);
  const auto take_window = [&] {
    const auto window = ahead.first(std::min(lookahead_, ahead.size()));
    ahead = ahead.subspan(window.size());
    return window;
  };
  std::span<const io::Cell> window = take_window();
  localize_columns(worker, window).wait();
  while (!window.empty()) {
    const std::span<const io::Cell> next = take_window();
    const Operation in_flight = localize_columns(worker, next);
    for (const io::Cell& cell : window) trainer.train(cell, steps);
    window = next;
  }
}

Operation LatencyHidingRunner::localize_columns(Worker& worker, std::span<const io::Cell> window) {
  keys_.clear();
  ++windows_;
  for (const io::Cell& cell : window) {
    if (last_window_[cell.column] == windows_) continue;
    last_window_[cell.column] = windows_;
    keys_.push_back(task_.factors.column_key(cell.column));
  }
  return worker.localize(task_.factors.table, keys_);
}

}  // namespace lapse::apps
