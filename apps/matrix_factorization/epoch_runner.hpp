// One worker's share of an epoch, in each of the ways to train.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "adapm/intent_worker.hpp"
#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/schedule.hpp"

namespace lapse::apps {

enum class TrainingMode : std::uint8_t {
  blocking,        // subepochs of disjoint blocks, whose columns are localized between them
  latency_hiding,  // columns are localized a window of cells ahead of their use
  classic,         // nothing is localized: factors stay where the table put them
  intent,          // cells by column; workers signal intents, and the manager does the rest
};

// How a worker of mode `blocking` accesses its block; the values are the same, bit for bit.
enum class BlockAccess : std::uint8_t {
  lease,  // the block is leased and trained in place
  pull,   // the columns are localized; three accesses per cell
};

// The data of one worker's runner; referred to, not copied.
struct WorkerTask {
  const FactorTable& factors;
  const FactorModel& model;
  const BlockSchedule& schedule;
  const WorkerCells& cells;
  const FactorizationProblem& problem;
  std::size_t worker;         // its number in the schedule
  std::size_t first_worker;   // of its rank
  std::size_t local_workers;  // likewise
  adapm::Technique technique;
};

// Where no number is given. Columns that are localized are to come just in time, the manager chooses the time
// itself.
constexpr std::size_t kLookaheadCells = 500;
constexpr std::size_t kClassicBatch = 1;
constexpr std::size_t kIntentBatch = 256;
constexpr std::size_t kLocalizeAhead = 4;
constexpr std::size_t kSignalAhead = 1000;

struct RunnerOptions {
  TrainingMode mode = TrainingMode::blocking;
  BlockAccess access = BlockAccess::lease;
  CellOrder order = CellOrder::sorted;
  std::uint64_t seed = 1;  // of the order
  // latency_hiding: cells in a window; intent: batches from announcing columns to their use.
  std::optional<std::size_t> lookahead = {};
  std::optional<std::size_t> batch = {};  // classic, intent: cells whose factors are accessed together
};

// Belongs to one worker of the schedule. Every worker calls the same functions in the same order, each time
// with the Worker of the current phase.
class EpochRunner {
 public:
  virtual ~EpochRunner() = default;

  // Before the first epoch: localizes the factors that this mode needs.
  virtual void place(Worker& worker) = 0;
  // Visits each of the worker's cells once.
  virtual void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) = 0;
};

std::unique_ptr<EpochRunner> make_epoch_runner(const WorkerTask& task, const RunnerOptions& options);

// Brings the worker's rows to its rank, where they stay: no other worker uses them.
void localize_own_rows(Worker& worker, const WorkerTask& task);

}  // namespace lapse::apps
