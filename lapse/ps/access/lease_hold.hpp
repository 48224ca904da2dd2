// What stands behind the handle of a lease.
#pragma once

#include <utility>
#include <vector>

#include "lapse/ps/lease.hpp"

namespace lapse {

class WorkerCore;

// The keys of one lease, at one address however often the handle is moved, so that the worker can end a lease
// whose handle was moved out of its function. Thread safety: the worker's thread.
class LeaseHold {
 public:
  // Without parts: they are added once the worker holds the keys.
  explicit LeaseHold(WorkerCore& worker) : worker_(&worker) {}
  LeaseHold(const LeaseHold&) = delete;
  LeaseHold& operator=(const LeaseHold&) = delete;
  // Releases; ignores that some rank has failed.
  ~LeaseHold();

  void add(LeasePart part) { parts_.push_back(std::move(part)); }
  bool held() const { return worker_ != nullptr; }
  // Throws UsageError when the lease has no keys of the table.
  const LeasePart& part(const TableHandle& table) const;

  // Gives the keys back and waits until the engine has released all of them. Throws PeerFailed.
  void release();
  // The worker has begun to give the keys back: the holder no longer has them.
  void ended() { worker_ = nullptr; }

 private:
  WorkerCore* worker_;  // null once ended
  std::vector<LeasePart> parts_;
};

}  // namespace lapse
