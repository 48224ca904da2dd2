#include "adapm/attached_worker.hpp"

#include <utility>

namespace adapm {

AttachedWorker::AttachedWorker(lapse::AttachedWorker base, IntentHandle intents)
    : base_(std::move(base)), worker_(std::make_unique<Worker>(*base_, std::move(intents))) {}

void AttachedWorker::detach() {
  if (worker_) worker_->end();
  base_.detach();
}

void AttachedWorker::fail(std::exception_ptr failure) noexcept {
  if (worker_) worker_->end();
  base_.fail(std::move(failure));
}

}  // namespace adapm
