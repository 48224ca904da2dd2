// Training column by column, with intents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/matrix_factorization/batch_trainer.hpp"
#include "apps/matrix_factorization/epoch_runner.hpp"

namespace lapse::apps {

// The training of AdaPM's paper (CIKM'23, section 5.1): the cells of a rank's rows are divided among its
// workers by column. A worker visits its cells by column; each epoch has a new random order of columns, and
// of the cells of a column. Each batch of cells is a clock: the loader's thread signals intents for the
// batches' columns some batches ahead; the worker signals one intent for all its rows for the whole epoch.
// The manager does the rest. Under the technique `localize`, the worker localizes the rows once, and columns
// ahead of their use.
class ColumnRunner final : public EpochRunner {
 public:
  ColumnRunner(const WorkerTask& task, const RunnerOptions& options);

  void place(Worker& worker) override;
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) override;

 private:
  struct Batch {
    std::span<const io::Cell> cells = {};
    std::vector<Key> columns = {};
  };

  bool localizes() const { return task_.technique == adapm::Technique::localize; }
  std::size_t batches() const { return (cells_.size() + batch_ - 1) / batch_; }
  // Puts the cells in the order of an epoch.
  void arrange(std::uint64_t epoch);
  void make(Batch& batch, std::size_t number) const;

  WorkerTask task_;
  std::uint64_t seed_;
  std::size_t batch_;
  std::size_t lookahead_;
  std::vector<io::Cell> cells_;            // by column
  std::vector<std::size_t> column_begin_;  // in cells_: of each distinct column, and the end
  std::vector<Key> rows_;                  // of the cells
  std::vector<io::Cell> visits_;           // cells_ in the order of the epoch
  BatchTrainer trainer_;
};

}  // namespace lapse::apps
