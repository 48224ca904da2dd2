// The state behind the handle of a lease.
#pragma once

#include <utility>
#include <vector>

#include "lapse/ps/lease.hpp"

namespace lapse {

class WorkerCore;

// The keys of one lease. Its address stays when the handle moves, so that the worker can end a lease whose
// handle was moved out of its function. Thread safety: the worker's thread.
class LeaseHold {
 public:
  // Starts without parts, and holds nothing until begin().
  LeaseHold() = default;
  LeaseHold(const LeaseHold&) = delete;
  LeaseHold& operator=(const LeaseHold&) = delete;
  // Releases the keys; ignores failures of ranks.
  ~LeaseHold();

  // Called when the worker holds the keys. The parts are added afterwards.
  void begin(WorkerCore& worker) { worker_ = &worker; }
  void add(LeasePart part) { parts_.push_back(std::move(part)); }
  bool held() const { return worker_ != nullptr; }
  // Throws UsageError if the lease has no keys of the table.
  const LeasePart& part(const TableHandle& table) const;

  // Releases the keys and waits until the engine has released all of them. Throws PeerFailed.
  void release();
  // Called when the worker begins to release the keys: they are no longer held.
  void ended() { worker_ = nullptr; }

 private:
  WorkerCore* worker_ = nullptr;  // null before and after
  std::vector<LeasePart> parts_;
};

}  // namespace lapse
