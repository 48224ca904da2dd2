// A thread of the application as a worker.
#pragma once

#include <exception>
#include <memory>

#include "lapse/core/export.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

class AttachedPlace;

// From ParameterServer::attach: the worker of the calling thread, used by that thread alone. Its end waits
// for the operations of the worker; its place can be taken again. In a child that fork has made, its end does
// nothing.
class LAPSE_EXPORT AttachedWorker {
 public:
  explicit AttachedWorker(std::unique_ptr<AttachedPlace> place);
  AttachedWorker(AttachedWorker&&) noexcept;
  AttachedWorker& operator=(AttachedWorker&&) = delete;
  // As detach(). What that throws, and an exception that unwinds this thread, ends the phase on every rank:
  // other workers could wait for this one indefinitely.
  ~AttachedWorker();

  // After its end its calls throw UsageError.
  Worker& operator*() const { return *worker_; }
  Worker* operator->() const { return worker_; }

  // Ends the worker. Throws as Worker::wait_all.
  void detach();
  // Ends the worker, and the phase on every rank with the text of `failure`, which the destructor cannot see.
  void fail(std::exception_ptr failure) noexcept;

 private:
  // In a child that fork has made, the place stays as it is. Whether there is none to be given back.
  bool leave_if_child() noexcept;

  std::unique_ptr<AttachedPlace> place_;
  Worker* worker_;
};

}  // namespace lapse
