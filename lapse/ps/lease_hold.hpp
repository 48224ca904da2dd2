// What stands behind the handle of a lease.
#pragma once

#include <utility>
#include <vector>

#include "lapse/ps/lease.hpp"

namespace lapse {

class WorkerCore;

// The keys of one lease, in one place in memory however often the handle is moved: so the worker can end a
// lease whose handle was carried out of its function. Thread safety: the worker's thread.
class LeaseHold {
 public:
  LeaseHold(WorkerCore& worker, std::vector<LeasePart> parts) : worker_(&worker), parts_(std::move(parts)) {}
  LeaseHold(const LeaseHold&) = delete;
  LeaseHold& operator=(const LeaseHold&) = delete;
  // Releases; ignores that some rank has failed.
  ~LeaseHold();

  bool held() const { return worker_ != nullptr; }
  // Throws UsageError when the lease has no keys of the table.
  const LeasePart& part(const TableHandle& table) const;

  // Gives the keys back and waits until that is over. Throws PeerFailed.
  void release();
  // The worker has begun to give the keys back: they are the holder's no more.
  void ended() { worker_ = nullptr; }

 private:
  WorkerCore* worker_;  // null once ended
  std::vector<LeasePart> parts_;
};

}  // namespace lapse
