// A thread of the application as a worker of a parameter manager.
#pragma once

#include <exception>
#include <memory>

#include "adapm/intent_handle.hpp"
#include "adapm/intent_worker.hpp"
#include "lapse/core/export.hpp"
#include "lapse/ps/attached_worker.hpp"

namespace adapm {

// Returned by ParameterManager::attach. Like lapse::AttachedWorker.
class LAPSE_EXPORT AttachedIntentWorker {
 public:
  AttachedIntentWorker(lapse::AttachedWorker base, IntentHandle intents);

  // After detach or fail, calls of the worker throw UsageError.
  IntentWorker& operator*() const { return *worker_; }
  IntentWorker* operator->() const { return worker_.get(); }
  // Ends the worker. Throws what Worker::wait_all throws.
  void detach();
  // Ends the worker, and fails the phase on every rank with the message of `failure`.
  void fail(std::exception_ptr failure) noexcept;

 private:
  lapse::AttachedWorker base_;
  std::unique_ptr<IntentWorker> worker_;  // used in place of that of base_; null after a move
};

}  // namespace adapm
