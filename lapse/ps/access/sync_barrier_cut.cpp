#include "lapse/ps/access/sync_barrier_cut.hpp"

#include "lapse/ps/access/reduction.hpp"

namespace lapse {

void SyncBarrierCut::before_sending(Bytes& combined, bool sends) {
  if (!is_active_ || !waits_for_sync(combined)) return;
  QuiescenceCounts counts = termination_.counts_at_barrier(IdleLevel::synced, sends);
  if (is_busy_) counts.busy = 1;
  add_sync_counts(combined, counts);
}

void SyncBarrierCut::after_sending(const Bytes& combined) {
  if (is_active_ && waits_for_sync(combined)) termination_.cut_at_barrier();
}

void SyncBarrierCut::take_result(const Bytes& result) {
  if (!waits_for_sync(result)) return;
  if (is_active_) {
    termination_.end_barrier(IdleLevel::synced, sync_counts(result));
  } else {
    termination_.detect_within_phase(IdleLevel::synced);
  }
}

}  // namespace lapse
