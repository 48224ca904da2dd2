// A worker's request to the engine that copies be merged and refreshed.
#pragma once

#include <atomic>
#include <cstddef>

#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

class WorkerEndpoint;

// Filled by the worker, which has no unanswered operation; then the engine's until `finished` is true.
struct SyncRequest : Submission {
  WorkerEndpoint* worker = nullptr;
  std::size_t unanswered = 0;  // ranks of the domain that have not answered yet
  std::atomic<bool> finished{true};
};

}  // namespace lapse
