#include "apps/matrix_factorization/epoch_runner.hpp"

#include <vector>

#include "apps/matrix_factorization/blocking_runner.hpp"
#include "apps/matrix_factorization/classic_runner.hpp"
#include "apps/matrix_factorization/column_runner.hpp"
#include "apps/matrix_factorization/latency_hiding_runner.hpp"
#include "apps/matrix_factorization/leased_block_runner.hpp"
#include "apps/matrix_factorization/ranking/ranking_runner.hpp"

namespace lapse::apps {

std::unique_ptr<EpochRunner> make_epoch_runner(const WorkerTask& task, const RunnerOptions& options) {
  if (task.negatives != nullptr) return std::make_unique<RankingRunner>(task, options, *task.negatives);
  switch (options.mode) {
    case TrainingMode::blocking:
      if (options.access == BlockAccess::lease) return std::make_unique<LeasedBlockRunner>(task, options);
      return std::make_unique<BlockingRunner>(task, options);
    case TrainingMode::latency_hiding:
      return std::make_unique<LatencyHidingRunner>(task, options);
    case TrainingMode::intent:
      return std::make_unique<ColumnRunner>(task, options);
    case TrainingMode::classic:
      break;
  }
  return std::make_unique<ClassicRunner>(task, options);
}

void localize_own_rows(Worker& worker, const WorkerTask& task) {
  std::vector<Key> keys;
  for (const std::uint32_t row : task.cells.rows()) keys.push_back(task.factors.row_key(row));
  worker.localize(task.factors.table, keys).wait();
}

}  // namespace lapse::apps
