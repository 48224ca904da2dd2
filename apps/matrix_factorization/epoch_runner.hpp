// One worker's share of an epoch, in each mode of training.
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

struct NegativeItems;

enum class TrainingMode : std::uint8_t {
  blocking,        // subepochs of disjoint blocks, whose columns are localized between them
  latency_hiding,  // columns are localized a window of cells ahead of their use
  classic,         // nothing is localized: factors stay at their homes
  intent,          // cells by column; workers signal intents, and the manager does the rest
};

// How a worker of mode `blocking` accesses its block. Both give the same values, bit for bit.
enum class BlockAccess : std::uint8_t {
  lease,  // leases the block and trains it in place
  pull,   // localizes the columns; three accesses per cell
};

// The data of one worker's runner, held by reference.
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
  const NegativeItems* negatives = nullptr;  // for a loss that ranks items, which needs mode `intent`
};

// Defaults. Localized columns should arrive just in time; for intents, the manager chooses the time itself.
constexpr std::size_t kLookaheadCells = 500;
constexpr std::size_t kClassicBatch = 1;
constexpr std::size_t kIntentBatch = 256;
constexpr std::size_t kLocalizeAhead = 4;
constexpr std::size_t kSignalAhead = 1000;

struct RunnerOptions {
  TrainingMode mode = TrainingMode::blocking;
  BlockAccess access = BlockAccess::lease;
  CellOrder order = CellOrder::sorted;
  std::uint64_t seed = 1;  // for the order
  // latency_hiding: cells of a window; intent: batches from announcing columns to their use.
  std::optional<std::size_t> lookahead = {};
  std::optional<Consistency> consistency = {};  // intent: of the factors; a clock is a batch
  std::optional<std::size_t> batch = {};        // classic, intent: cells whose factors are accessed together
};

// Belongs to one worker of the schedule. All workers call the same functions in the same order, with the
// Worker of the current phase.
class EpochRunner {
 public:
  virtual ~EpochRunner() = default;

  // Called before the first epoch. Localizes the factors that the mode needs.
  virtual void place(Worker& worker) = 0;
  // Visits each of the worker's cells once.
  virtual void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) = 0;
  // The sum of the losses in the last epoch, of a loss that ranks items; else 0.
  virtual double loss_sum() const { return 0; }
};

std::unique_ptr<EpochRunner> make_epoch_runner(const WorkerTask& task, const RunnerOptions& options);

// Localizes the worker's rows permanently: no other worker uses them.
void localize_own_rows(Worker& worker, const WorkerTask& task);

}  // namespace lapse::apps
