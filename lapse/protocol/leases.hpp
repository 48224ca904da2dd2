// Keys that a worker has for itself.
#pragma once

#include "lapse/protocol/lease_request.hpp"
#include "lapse/protocol/relocation.hpp"
#include "lapse/transport/submission_queue.hpp"

namespace lapse {

// A request gets its keys one after the other in ascending order of table and key, waiting for each where
// operations wait too: at the key's arrival, or behind the lease of another worker.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. Whoever waits for a key holds only smaller ones, and who holds all its keys waits for nothing: so some
// request always gets on, on all ranks together.
// 2. A request that waits for an arrival stands before every INSTRUCT that is ordered after the arrival: the
// key cannot pass by.
class Leases : public SubmissionHandler {
 public:
  explicit Leases(Relocation& relocation) : relocation_(relocation) {}

  void handle_submission(Submission& submission) override;
  // Goes on with the requests whose turn has come.
  void resume();

 private:
  void advance(LeaseRequest& request);
  void release(LeaseRequest& request);
  static void finish(LeaseRequest& request);

  Relocation& relocation_;
};

}  // namespace lapse
