// Training in any order, with columns localized ahead of their use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/matrix_factorization/epoch_runner.hpp"

namespace lapse::apps {

// The latency hiding of the paper (section 2.2.3): while the cells of one window are trained, the columns of
// the next are localized, so a column is requested one to two windows ahead. Workers that localize the same
// column at the same time take it from each other; a worker that finds it gone accesses it by message. Each
// worker's rows stay local.
class LatencyHidingRunner final : public EpochRunner {
 public:
  LatencyHidingRunner(const WorkerTask& task, const RunnerOptions& options);

  void place(Worker& worker) override { localize_own_rows(worker, task_); }
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) override;

 private:
  // Localizes the columns of a window, each once.
  Operation localize_columns(Worker& worker, std::span<const io::Cell> window);

  WorkerTask task_;
  std::size_t lookahead_;
  CellVisits visits_;
  std::vector<io::Cell> cells_;  // sorted
  std::vector<Key> keys_;
  std::vector<std::uint64_t> last_window_;  // by column: the last window that localized it
  std::uint64_t windows_ = 0;
};

}  // namespace lapse::apps
