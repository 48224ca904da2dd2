#include "apps/matrix_factorization/blocking_runner.hpp"

#include "apps/matrix_factorization/cell_trainer.hpp"

namespace lapse::apps {

void BlockingRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  CellTrainer trainer(worker, task_.factors, task_.model);
  const std::size_t workers = task_.schedule.workers();
  for (std::size_t subepoch = 0; subepoch < workers; ++subepoch) {
    const std::size_t block = task_.schedule.block(task_.worker, subepoch);
    const std::uint64_t stream = (epoch * workers + task_.worker) * workers + block;
    const std::span<const io::Cell> cells = visits_.arrange(task_.cells.block(block), stream);
    worker.barrier();
    localize_columns(worker, block);
    for (const io::Cell& cell : cells) trainer.train(cell, steps);
  }
}

void BlockingRunner::localize_columns(Worker& worker, std::size_t block) {
  keys_.clear();
  for (const std::uint32_t column : task_.cells.columns(block))
    keys_.push_back(task_.factors.column_key(column));
  worker.localize(task_.factors.table, keys_).wait();
}

}  // namespace lapse::apps
