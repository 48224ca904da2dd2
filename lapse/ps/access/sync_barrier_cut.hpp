// The barrier in a sync_barrier of all workers detects by itself whether anything is left to sync.
#pragma once

#include "lapse/protocol/group/collective.hpp"
#include "lapse/protocol/group/termination_detection.hpp"

namespace lapse {

// Adds the counts of this rank to the contributions, at a cut that it makes then. So a sync_barrier takes no
// longer than a barrier if all ranks had quiesced at their cuts; else a detection follows.
//
// Thread safety: the holder of the progress lock; start: between phases.
class SyncBarrierCut final : public CombinationPoint {
 public:
  explicit SyncBarrierCut(TerminationDetection& termination) : termination_(termination) {}

  // Equal on all ranks: whether every rank has workers; if not, no cuts are made. And whether a worker may
  // write to replicas for which another rank answers: then that rank is never idle at its cut, as it cannot
  // know whether that worker waits already.
  void start(bool every_rank_has_workers, bool replicas_are_shared) {
    is_active_ = every_rank_has_workers;
    is_busy_ = replicas_are_shared;
  }

  void before_sending(Bytes& combined, bool sends) override LAPSE_REQUIRES(progress_role);
  void after_sending(const Bytes& combined) override LAPSE_REQUIRES(progress_role);
  // The result of any collective call of all workers.
  void take_result(const Bytes& result) LAPSE_REQUIRES(progress_role);

 private:
  TerminationDetection& termination_;
  // constant during a phase
  bool is_active_ = false;
  bool is_busy_ = false;
};

}  // namespace lapse
