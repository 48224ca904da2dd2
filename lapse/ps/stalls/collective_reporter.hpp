// Which worker of a rank reports that a collective call takes long.
#pragma once

#include <atomic>
#include <cstdint>

#include "lapse/protocol/worker/worker_endpoint.hpp"

namespace lapse {

// One for the workers of a group on one rank: the first that has waited long reports for all.
//
// Thread safety: any thread; reset while no worker runs.
class CollectiveReporter {
 public:
  void reset() { reporter_.store(0, std::memory_order_relaxed); }

  // Whether the worker is the one that reports the call in which it waits.
  bool reports(const WorkerEndpoint& endpoint) {
    constexpr int kCallShift = 32;
    const std::uint64_t call = endpoint.collective_calls();
    const std::uint64_t mine = call << kCallShift | (endpoint.local_index() + 1);
    // A worker that comes late from an earlier call must not replace the reporter of this one.
    std::uint64_t reporter = reporter_.load(std::memory_order_relaxed);
    while (reporter >> kCallShift < call) {
      if (reporter_.compare_exchange_weak(reporter, mine, std::memory_order_relaxed)) return true;
    }
    return reporter == mine;
  }

 private:
  // The newest collective call that was reported, and the worker that reports it: the number of the call in
  // the upper half, one more than the worker's slot in the lower.
  std::atomic<std::uint64_t> reporter_{0};
};

}  // namespace lapse
