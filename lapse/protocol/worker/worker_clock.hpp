// Measures a worker's progress.
#pragma once

#include <atomic>
#include <cstdint>

#include "lapse/core/types.hpp"

namespace lapse {

// The one clock for everything that depends on a worker's progress. It continues from phase to phase.
//
// Thread safety: advance: the worker's thread. now: any thread.
class WorkerClock {
 public:
  Clock now() const { return Clock(clock_.load(std::memory_order_acquire)); }
  void advance() { clock_.store(clock_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  // On a cache line of its own, because the worker writes it often.
  alignas(64) std::atomic<std::int64_t> clock_{0};
};

}  // namespace lapse
