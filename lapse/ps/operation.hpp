// The handle of an asynchronous operation.
#pragma once

#include <utility>

#include "lapse/core/export.hpp"

namespace lapse {

class WorkerCore;
struct OperationState;

// Returned by pull, push, set, call and localize. Only the thread of the worker that made it uses it.
// Move-only. The destructor detaches: a push or localize continues; the answer of a pull is discarded, and
// its destination is not written to after the destructor has returned. Destroying an unfinished pull inside
// update_if_local ends the program. A handle that outlives its worker supports done() only; it must not
// outlive the server.
class LAPSE_EXPORT Operation {
 public:
  // A finished operation.
  Operation() = default;
  // For the library: the handle of an operation of this worker.
  Operation(WorkerCore& worker, OperationState& state) : worker_(&worker), state_(&state) {}
  Operation(Operation&& other) noexcept
      : worker_(std::exchange(other.worker_, nullptr)), state_(std::exchange(other.state_, nullptr)) {}
  Operation& operator=(Operation&& other) noexcept {
    if (this != &other) {
      if (state_ != nullptr) detach();
      worker_ = std::exchange(other.worker_, nullptr);
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Operation() {
    if (state_ != nullptr) detach();
  }

  // Returns true if wait would return at once. Drives no communication. Like wait, throws UsageError in a
  // child that fork has made, unless the operation was finished when its call returned.
  bool done() const { return state_ == nullptr || is_done(); }
  // Waits until the operation is finished. pull: the values are there. push, set: applied at the owner.
  // localize: each key was local once. May drive communication of the rank. Throws UserCodeFailed or
  // OutOfMemory if the operation failed for a key, and PeerFailed if a rank has failed, even if the operation
  // is finished. Does nothing if the operation was finished when its call returned: that call has checked.
  void wait() {
    if (state_ != nullptr) finish();
  }

 private:
  bool is_done() const;
  void finish();
  void detach() noexcept;

  WorkerCore* worker_ = nullptr;
  OperationState* state_ = nullptr;
};

}  // namespace lapse
