// Identifies a worker that waits for a lease.
#pragma once

#include <cstdint>

#include "lapse/core/types.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

// A worker that waits for its turn to lease a key: a worker of this rank, by its request, or worker `worker`
// of another rank of the domain.
struct LeaseAsker {
  Submission* local = nullptr;  // its LeaseRequest
  Rank rank;
  std::uint64_t worker = 0;

  bool operator==(const LeaseAsker&) const = default;
};

}  // namespace lapse
