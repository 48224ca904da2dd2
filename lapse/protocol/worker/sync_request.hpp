// A worker's request to the engine to merge and refresh replicas.
#pragma once

#include <atomic>
#include <cstddef>

#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

class WorkerEndpoint;

// Filled by the worker, which must have no unanswered operation; then owned by the engine until `finished` is
// true.
struct SyncRequest : Submission {
  WorkerEndpoint* worker = nullptr;
  std::size_t unanswered = 0;  // ranks of the domain that have not answered yet
  std::atomic<bool> finished{true};
};

}  // namespace lapse
