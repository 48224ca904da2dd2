#include "lapse/ps/operation.hpp"

#include <memory>

#include "lapse/ps/access/worker_core.hpp"

namespace lapse {

bool Operation::is_done() const {
  if (state_->orphaned) return true;
  // In a child that fork has made, the operation would stay unfinished indefinitely.
  worker_->check_life();
  return state_->done();
}

void Operation::finish() {
  if (state_->orphaned) return;
  worker_->wait_for(*state_);
  const std::unique_ptr<KeyFailure> failure = std::move(state_->failure);
  detach();
  if (failure) failure->raise();
}

void Operation::detach() noexcept {
  OperationState& state = *std::exchange(state_, nullptr);
  if (!state.orphaned) worker_->abandon(state);
}

}  // namespace lapse
