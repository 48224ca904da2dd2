// The handle of something asynchronous.
#pragma once

#include <utility>

#include "lapse/protocol/operation_state.hpp"

namespace lapse {

class Worker;

// Returned by pull, push, set, call and localize. Used by the thread of the worker that made it. Move-only;
// destroying it detaches: a push or localize goes on, the answer of a pull is thrown away and its destination
// is not written to after the destructor has returned (destroying an unfinished pull inside update_if_local
// ends the program). Of a handle that outlives its worker nothing is left but done(); it must not outlive the
// server.
class Operation {
 public:
  // Finished from the start.
  Operation() = default;
  Operation(Operation&& other) noexcept
      : worker_(std::exchange(other.worker_, nullptr)), state_(std::exchange(other.state_, nullptr)) {}
  Operation& operator=(Operation&& other) noexcept {
    if (this != &other) {
      detach();
      worker_ = std::exchange(other.worker_, nullptr);
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Operation() { detach(); }

  // True when wait would return at once. Does not drive anything.
  bool done() const { return state_ == nullptr || state_->orphaned || state_->done(); }
  // pull: the values are there. push, set: applied at the owner. localize: the keys have been here once.
  // May leave the rank to drive communication. Throws PeerFailed when some rank failed.
  void wait() {
    if (state_ != nullptr && !state_->orphaned) finish();
  }

 private:
  friend class Worker;
  Operation(Worker& worker, OperationState& state) : worker_(&worker), state_(&state) {}

  void finish();
  void detach() noexcept {
    if (state_ != nullptr && !state_->orphaned) release();
  }
  void release() noexcept;

  Worker* worker_ = nullptr;
  OperationState* state_ = nullptr;
};

}  // namespace lapse
