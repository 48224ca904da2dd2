// A thread of the application as a worker of a parameter manager.
#pragma once

#include <exception>
#include <memory>

#include "adapm/intent_handle.hpp"
#include "adapm/intent_worker.hpp"
#include "lapse/core/export.hpp"
#include "lapse/ps/attached_worker.hpp"

namespace adapm {

// From ParameterManager::attach; as lapse::AttachedWorker.
class LAPSE_EXPORT AttachedIntentWorker {
 public:
  AttachedIntentWorker(lapse::AttachedWorker base, IntentHandle intents);

  // After its end its calls throw UsageError.
  IntentWorker& operator*() const { return *worker_; }
  IntentWorker* operator->() const { return worker_.get(); }
  // Ends the worker. Throws as Worker::wait_all.
  void detach();
  // Ends the worker, and the phase on every rank with the text of `failure`.
  void fail(std::exception_ptr failure) noexcept;

 private:
  lapse::AttachedWorker base_;
  std::unique_ptr<IntentWorker> worker_;  // in place of that of base_; null after a move
};

}  // namespace adapm
