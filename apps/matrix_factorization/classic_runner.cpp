#include "apps/matrix_factorization/classic_runner.hpp"

#include <algorithm>

namespace lapse::apps {

ClassicRunner::ClassicRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      batch_(options.batch.value_or(kClassicBatch)),
      visits_(options.order, options.seed),
      cells_(task.cells.all().begin(), task.cells.all().end()),
      trainer_(task.factors, task.model) {
  sort_by_row(cells_);
}

void ClassicRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  std::span<const io::Cell> left = visits_.arrange(cells_, epoch * task_.schedule.workers() + task_.worker);
  while (!left.empty()) {
    const std::size_t size = std::min(batch_, left.size());
    trainer_.train(worker, left.first(size), steps);
    left = left.subspan(size);
  }
}

}  // namespace lapse::apps
