// Training column by column, with intents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/matrix_factorization/batch_trainer.hpp"
#include "apps/matrix_factorization/intent_runner.hpp"

namespace lapse::apps {

// The training of AdaPM's paper (CIKM'23, section 5.1): the cells of a rank's rows are divided among its
// workers by column. A worker visits its cells by column; each epoch has a new random order of columns, and
// of the cells of a column.
class ColumnRunner final : public IntentRunner {
 public:
  ColumnRunner(const WorkerTask& task, const RunnerOptions& options);

  void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) override;

 private:
  struct Batch {
    std::span<const io::Cell> cells = {};
    std::vector<Key> columns = {};
  };

  // Puts the cells in the order of an epoch.
  void arrange(std::uint64_t epoch);
  void make(Batch& batch, std::size_t number) const;

  std::vector<io::Cell> cells_;            // by column
  std::vector<std::size_t> column_begin_;  // in cells_: of each distinct column, and the end
  BatchTrainer trainer_;
};

}  // namespace lapse::apps
