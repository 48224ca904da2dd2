// Samples how many replicas a rank holds, and how old they are when workers read them.
#pragma once

#include <chrono>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/statistics/copy_series.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock.
class ReplicaSamples {
 public:
  using Clock = std::chrono::steady_clock;

  // `registry` must outlive its use.
  explicit ReplicaSamples(const Registry& registry) : registry_(registry) {}

  // Counts the reads of replicas that workers have noted. Called before the replicas are refreshed.
  void take_reads() LAPSE_REQUIRES(progress_role);
  // Counts the replicas if the next sample is due.
  void count_copies(Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Numbers of replicas over time, by table.
  const CopySeries& copies_over_time() const LAPSE_REQUIRES(progress_role) { return copies_over_time_; }

 private:
  const Registry& registry_;
  CopySeries copies_over_time_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
