#include "apps/matrix_factorization/leased_block_runner.hpp"
#include "lapse/ps/lease.hpp"

#include <cstdint>

namespace lapse::apps {

LeasedBlockRunner::LeasedBlockRunner(const WorkerTask& task, const RunnerOptions& options)
    : task_(task),
      visits_(options.order, options.seed),
      row_gradient_(task.model.length()),
      column_gradient_(task.model.length()) {
  for (std::size_t block = 0; block < task.cells.blocks(); ++block) blocks_.push_back(make_block(block));
}

LeasedBlockRunner::Block LeasedBlockRunner::make_block(std::size_t number) const {
  const std::span<const io::Cell> cells = task_.cells.block(number);
  Block block{{}, {cells.begin(), cells.end()}};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i == 0 || cells[i].row != cells[i - 1].row) block.keys.push_back(task_.factors.row_key(cells[i].row));
    block.cells[i].row = static_cast<std::uint32_t>(block.keys.size() - 1);
  }
  std::vector<std::uint32_t> places(task_.factors.columns);
  for (const std::uint32_t column : task_.cells.columns(number)) {
    places[column] = static_cast<std::uint32_t>(block.keys.size());
    block.keys.push_back(task_.factors.column_key(column));
  }
  for (io::Cell& cell : block.cells) cell.column = places[cell.column];
  return block;
}

void LeasedBlockRunner::run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) {
  const std::size_t workers = task_.schedule.workers();
  for (std::size_t subepoch = 0; subepoch < workers; ++subepoch) {
    const std::size_t number = task_.schedule.block(task_.worker, subepoch);
    const std::uint64_t stream = (epoch * workers + task_.worker) * workers + number;
    const Block& block = blocks_[number];
    const std::span<const io::Cell> cells = visits_.arrange(block.cells, stream);
    worker.barrier();
    Lease lease = worker.lease(task_.factors.table, std::span(block.keys));
    const LeasedValues<float> values = lease.values(task_.factors.table);
    if (task_.factors.takes_gradients) {
      train_by_gradients(values, cells, steps);
    } else {
      train(values, cells, steps);
    }
    lease.release();
  }
}

void LeasedBlockRunner::train(const LeasedValues<float>& values, std::span<const io::Cell> cells,
                              const SgdSteps& steps) {
  factors_.resize(values.size());
  for (std::size_t i = 0; i < factors_.size(); ++i) factors_[i] = values[i].data();
  for (const io::Cell& cell : cells) {
    task_.model.step(factors_[cell.row], factors_[cell.column], cell.value, steps);
  }
}

void LeasedBlockRunner::train_by_gradients(const LeasedValues<float>& values, std::span<const io::Cell> cells,
                                           const SgdSteps& steps) {
  for (const io::Cell& cell : cells) {
    task_.model.gradients(values[cell.row].data(), values[cell.column].data(), row_gradient_.data(),
                          column_gradient_.data(), cell.value, steps);
    values.apply(cell.row, row_gradient_, steps.scale);
    values.apply(cell.column, column_gradient_, steps.scale);
  }
}

}  // namespace lapse::apps
