// Threads of the application as workers of the Python package.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>

#include "lapse/python/handles.hpp"

namespace lapse::python {

// Ends the worker of a Python function when the function ends (RAII).
class WorkerScope {
 public:
  template <class W>
  WorkerScope(const SharedServer& server, W& worker) : state_(std::make_shared<WorkerState>()) {
    state_->server = server;
    state_->worker = &worker;
    if constexpr (std::is_same_v<W, adapm::IntentWorker>) state_->managed = &worker;
  }
  WorkerScope(const WorkerScope&) = delete;
  WorkerScope& operator=(const WorkerScope&) = delete;
  ~WorkerScope() { state_->end(); }
  const SharedWorker& state() const { return state_; }

 private:
  SharedWorker state_;
};

// Makes a thread a worker, between enter and exit.
//
// Thread safety: with the interpreter's lock. Destroyed by the garbage collector, it must not wait, because
// that thread may hold locks of the library: it leaves its worker to the next attach or stop_progress.
class Attachment {
 public:
  Attachment(SharedServer server, std::optional<std::size_t> place);
  Attachment(const Attachment&) = delete;
  Attachment& operator=(const Attachment&) = delete;
  ~Attachment();

  SharedWorker enter();
  // Takes the exception that ends the block, or None.
  void exit(const py::object& type, const py::object& value, const py::object& trace);
  // Ends the workers left by the garbage collector. Waits for their operations.
  static void end_left(ServerState& server);

 private:
  SharedServer server_;
  std::optional<std::size_t> place_;
  std::shared_ptr<AttachedHere> here_;  // null: not attached
};

}  // namespace lapse::python
