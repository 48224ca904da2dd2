// Distributed stochastic gradient descent by blocks, with single accesses.
#pragma once

#include <vector>

#include "apps/matrix_factorization/epoch_runner.hpp"

namespace lapse::apps {

// The parameter blocking of the paper (Renz-Wieland et al., VLDB'20, sections 2.2.2 and 4.1): after a barrier
// of all workers between subepochs, each worker localizes the columns of its next block, waits, and works
// without communication. Only columns in which the worker has cells move. The result depends only on the
// number of workers, not on their distribution over ranks, bit for bit.
class BlockingRunner final : public EpochRunner {
 public:
  BlockingRunner(const WorkerTask& task, const RunnerOptions& options)
      : task_(task), visits_(options.order, options.seed) {}

  void place(Worker& worker) override { localize_own_rows(worker, task_); }
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) override;

 private:
  void localize_columns(Worker& worker, std::size_t block);

  WorkerTask task_;
  CellVisits visits_;
  std::vector<Key> keys_;
};

}  // namespace lapse::apps
