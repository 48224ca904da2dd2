#include "adapm/attached_intent_worker.hpp"

#include <utility>

namespace adapm {

AttachedIntentWorker::AttachedIntentWorker(lapse::AttachedWorker base, IntentHandle intents)
    : base_(std::move(base)), worker_(std::make_unique<IntentWorker>(*base_, std::move(intents))) {}

void AttachedIntentWorker::detach() {
  if (worker_) worker_->end();
  base_.detach();
}

void AttachedIntentWorker::fail(std::exception_ptr failure) noexcept {
  if (worker_) worker_->end();
  base_.fail(std::move(failure));
}

}  // namespace adapm
