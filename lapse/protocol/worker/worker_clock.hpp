// How far a worker has got.
#pragma once

#include <atomic>
#include <cstdint>

#include "lapse/core/types.hpp"

namespace lapse {

// One clock for all that depends on the progress of a worker. It continues from phase to phase.
//
// Thread safety: advance by the worker's thread, now by any thread.
class WorkerClock {
 public:
  Clock now() const { return Clock(clock_.load(std::memory_order_acquire)); }
  void advance() { clock_.store(clock_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  // On a line of its own: its worker writes it often.
  alignas(64) std::atomic<std::int64_t> clock_{0};
};

}  // namespace lapse
