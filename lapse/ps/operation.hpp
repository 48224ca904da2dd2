// The handle of something asynchronous.
#pragma once

#include <utility>

#include "lapse/core/export.hpp"

namespace lapse {

class WorkerCore;
struct OperationState;

// Returned by pull, push, set, call and localize. Used by the thread of the worker that made it. Move-only;
// destroying it detaches: a push or localize goes on, the answer of a pull is discarded and its destination
// is not written to after the destructor has returned (destroying an unfinished pull inside update_if_local
// ends the program). A handle that outlives its worker supports done() only; it must not outlive the server.
class LAPSE_EXPORT Operation {
 public:
  // Finished from the start.
  Operation() = default;
  // For the library: the handle to an operation of this worker.
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

  // True when wait would return at once. Does not drive anything. Throws UsageError in a child that fork has
  // made, unless the operation was finished when its call returned; so does wait.
  bool done() const { return state_ == nullptr || is_done(); }
  // pull: the values are there. push, set: applied at the owner. localize: each key was local once. May leave
  // the rank to drive communication. Throws UserCodeFailed or OutOfMemory when the operation failed for a
  // key. Throws PeerFailed when some rank has failed, also when the operation is finished; only an operation
  // that was finished when its call returned does nothing here, as the call itself has checked.
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
