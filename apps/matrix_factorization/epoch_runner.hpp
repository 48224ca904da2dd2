// One worker's share of an epoch, in each of the ways to train.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "apps/matrix_factorization/factor_table.hpp"
#include "apps/matrix_factorization/model.hpp"
#include "apps/matrix_factorization/schedule.hpp"

namespace lapse::apps {

enum class TrainingMode : std::uint8_t {
  blocking,        // subepochs of disjoint blocks, whose columns are localized between them
  latency_hiding,  // columns are localized a window of cells ahead of their use
  classic,         // nothing is localized: factors stay where the table put them
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
  std::size_t worker;  // its number in the schedule
};

struct RunnerOptions {
  TrainingMode mode = TrainingMode::blocking;
  BlockAccess access = BlockAccess::lease;
  CellOrder order = CellOrder::sorted;
  std::uint64_t seed = 1;       // of the order
  std::size_t lookahead = 500;  // latency_hiding: cells in a window
  std::size_t batch = 1;        // classic: cells whose factors are pulled and pushed together
};

// Belongs to one worker of the schedule. Every worker calls the same functions in the same order, each time
// with the Worker of the current phase.
class EpochRunner {
 public:
  virtual ~EpochRunner() = default;

  // Before the first epoch: localizes the factors that this mode needs.
  virtual void place(Worker& worker) = 0;
  // Visits each of the worker's cells once.
  virtual void run(Worker& worker, std::uint64_t epoch, const SgdSteps& steps) = 0;
};

std::unique_ptr<EpochRunner> make_epoch_runner(const WorkerTask& task, const RunnerOptions& options);

// Brings the worker's rows to its rank, where they stay: no other worker uses them.
void localize_own_rows(Worker& worker, const WorkerTask& task);

}  // namespace lapse::apps
