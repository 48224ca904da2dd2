// A worker bound to a thread of the application.
#pragma once

#include <exception>
#include <memory>

#include "lapse/core/export.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

class AttachedPlace;

// The worker of the calling thread, from ParameterServer::attach; only that thread uses it. The destructor
// waits for the worker's operations and frees its place. In a child that fork has made, it does nothing.
class LAPSE_EXPORT AttachedWorker {
 public:
  explicit AttachedWorker(std::unique_ptr<AttachedPlace> place);
  AttachedWorker(AttachedWorker&&) noexcept;
  AttachedWorker& operator=(AttachedWorker&&) = delete;
  // Like detach(). If that throws, or an exception unwinds this thread, the phase ends on every rank:
  // otherwise other workers could wait for this one indefinitely.
  ~AttachedWorker();

  // Once the worker has ended, its calls throw UsageError.
  Worker& operator*() const { return *worker_; }
  Worker* operator->() const { return worker_; }

  // Ends the worker. Throws what Worker::wait_all throws.
  void detach();
  // Ends the worker, and the phase on every rank with the message of `failure`. The destructor cannot see
  // that exception.
  void fail(std::exception_ptr failure) noexcept;

 private:
  // Returns true if there is no place to give back. In a child that fork has made, leaves the place as it is.
  bool leave_if_child() noexcept;

  std::unique_ptr<AttachedPlace> place_;
  Worker* worker_;
};

}  // namespace lapse
