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
// 2. A request that asks for a key that is not here stands in the queue of its arrival before any INSTRUCT:
// the key cannot pass by. One that joins an arrival late may stand behind an INSTRUCT; then it asks anew when
// the key has left.
class Leases : public SubmissionHandler {
 public:
  Leases(Relocation& relocation, Rank self) : relocation_(relocation), self_(self) {}

  void handle_submission(Submission& submission) override;
  // Goes on with the requests whose turn has come.
  void resume();

 private:
  // Goes on until the request has everything, waits for something, or fails: then it holds nothing.
  void advance(LeaseRequest& request);
  void grant(LeaseRequest& request);
  void fail(LeaseRequest& request);
  void release(LeaseRequest& request);
  static void finish(LeaseRequest& request);

  Relocation& relocation_;
  Rank self_;
};

}  // namespace lapse
