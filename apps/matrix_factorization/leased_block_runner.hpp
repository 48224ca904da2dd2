// Distributed stochastic gradient descent by blocks, in leased memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "apps/matrix_factorization/epoch_runner.hpp"
#include "lapse/ps/lease.hpp"

namespace lapse::apps {

// Like BlockingRunner, with the same values, bit for bit, except that between barriers a worker leases the
// rows and columns of its block, so that accesses cost as much as in an array.
class LeasedBlockRunner final : public EpochRunner {
 public:
  LeasedBlockRunner(const WorkerTask& task, const RunnerOptions& options);

  void place(Worker& worker) override { localize_own_rows(worker, task_); }
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) override;

 private:
  struct Block {
    std::vector<Key> keys;        // of its rows, then of its columns
    std::vector<io::Cell> cells;  // sorted; row and column are indices in `keys`
  };

  Block make_block(std::size_t block) const;
  void train(const LeasedValues<float>& values, std::span<const io::Cell> cells, const SgdSteps& steps);
  void train_by_gradients(const LeasedValues<float>& values, std::span<const io::Cell> cells,
                          const SgdSteps& steps);

  WorkerTask task_;
  CellVisits visits_;
  std::vector<Block> blocks_;
  std::vector<float*> factors_;      // of the keys of the leased block
  std::vector<float> row_gradient_;  // of one cell
  std::vector<float> column_gradient_;
};

}  // namespace lapse::apps
