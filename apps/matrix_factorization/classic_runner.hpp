// Training as with a parameter server that allocates parameters statically.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "apps/matrix_factorization/batch_trainer.hpp"
#include "apps/matrix_factorization/epoch_runner.hpp"

namespace lapse::apps {

// Trains batch by batch, without moving factors.
class ClassicRunner final : public EpochRunner {
 public:
  ClassicRunner(const WorkerTask& task, const RunnerOptions& options);

  void place(Worker& worker) override { static_cast<void>(worker); }
  void run(adapm::IntentWorker& worker, std::uint64_t epoch, const SgdSteps& steps) override;

 private:
  WorkerTask task_;
  std::size_t batch_;
  CellVisits visits_;
  std::vector<io::Cell> cells_;  // sorted
  BatchTrainer trainer_;
};

}  // namespace lapse::apps
