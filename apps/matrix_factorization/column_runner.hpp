// Training column by column, with intents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/matrix_factorization/batch_trainer.hpp"
#include "apps/matrix_factorization/epoch_runner.hpp"

namespace lapse::apps {

// As AdaPM's paper trains (CIKM'23, section 5.1): the cells of a rank's rows are divided among its workers by
// column, and a worker visits its cells by column, columns and the cells of each in a random order of the
// epoch. Batches of cells, each a clock: their columns are announced some batches ahead, all rows of the rank
// for the whole epoch. The manager does the rest; under its technique `localize` the runner localizes the
// rows once and columns ahead of their use.
class ColumnRunner final : public EpochRunner {
 public:
  ColumnRunner(const WorkerTask& task, const RunnerOptions& options);

  void place(Worker& worker) override;
  void run(adapm::Worker& worker, std::uint64_t epoch, const SgdSteps& steps) override;

 private:
  // Puts the cells in the order of an epoch.
  void arrange(std::uint64_t epoch);
  // The cells of the batch with this number.
  std::span<const io::Cell> batch(std::size_t number) const;
  // Announces the columns of a batch, which is trained while the clock is `clock`.
  void announce(adapm::Worker& worker, std::size_t number, Clock clock);

  WorkerTask task_;
  std::uint64_t seed_;
  std::size_t batch_;
  std::size_t lookahead_;
  std::vector<io::Cell> cells_;            // by column
  std::vector<std::size_t> column_begin_;  // in cells_: of each different column, and the end
  std::vector<Key> rows_;                  // of the cells
  std::vector<io::Cell> visits_;           // cells_ in the order of the epoch
  std::vector<Key> keys_;                  // of the columns of a batch
  BatchTrainer trainer_;
};

}  // namespace lapse::apps
