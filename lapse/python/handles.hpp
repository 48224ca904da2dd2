// The state of the Python package's classes.
//
// Every call that may wait releases the global interpreter lock, also destructors. Handles keep the server in
// memory. No destructor is collective: a server that was not closed stays in memory.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "adapm/attached_intent_worker.hpp"
#include "adapm/parameter_manager.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/jobs/checkpoints.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/python/arrays.hpp"
#include "lapse/python/raised.hpp"

namespace lapse::python {

using AnyTable = std::variant<Table<float>, Table<double>, Table<std::int32_t>, Table<std::int64_t>>;
using AnySampler = std::variant<adapm::Sampler<float>, adapm::Sampler<double>, adapm::Sampler<std::int32_t>,
                                adapm::Sampler<std::int64_t>>;
using AnySample = std::variant<adapm::PreparedSample<float>, adapm::PreparedSample<double>,
                               adapm::PreparedSample<std::int32_t>, adapm::PreparedSample<std::int64_t>>;

struct AttachedHere;

// Returns f(), called without the interpreter's lock.
template <class F>
decltype(auto) unlocked(F&& f) {
  const py::gil_scoped_release released;
  return std::forward<F>(f)();
}

// Shared by all handles of a server.
struct ServerState {
  std::unique_ptr<ParameterServer> own;              // or that of the manager
  std::unique_ptr<adapm::ParameterManager> manager;  // null: none
  bool closed = false;
  const OwnProcess process = {};
  // Attached workers whose attachment the garbage collector has destroyed.
  std::vector<std::shared_ptr<AttachedHere>> left = {};
  RaisedHere raised = {};  // by attached workers

  ServerState() = default;
  ServerState(const ServerState&) = delete;
  ServerState& operator=(const ServerState&) = delete;
  ~ServerState() {
    if (closed) {
      const py::gil_scoped_release released;
      manager.reset();
      own.reset();
    } else {
      // Destruction would be collective.
      (void)manager.release();
      (void)own.release();
    }
  }
  ParameterServer& server() const { return manager ? manager->server() : *own; }
};
using SharedServer = std::shared_ptr<ServerState>;

struct TableHandleOf {
  SharedServer server;
  AnyTable table;

  // Calls f(table) with the table of its element type.
  template <class F>
  decltype(auto) visit(F&& f) const {
    return std::visit(std::forward<F>(f), table);
  }
};
// The element type of a Table.
template <class T>
using ElementOf = typename std::remove_cvref_t<T>::element;

// An operation, and the array that it writes to.
struct PendingOperation {
  Operation operation;
  std::optional<HeldArray> values;

  PendingOperation(Operation pending, std::optional<HeldArray> written)
      : operation(std::move(pending)), values(std::move(written)) {}
  PendingOperation(PendingOperation&&) noexcept = default;
  PendingOperation& operator=(PendingOperation&&) noexcept = default;
  ~PendingOperation() {
    try {
      if (operation.done()) return;
    } catch (const UsageError&) {  // in a child made by fork, where its end does nothing
    }
    const py::gil_scoped_release released;
    operation = {};
  }
  // Returns the array, or None.
  py::object wait() {
    unlocked([&] { operation.wait(); });
    return values ? py::object(values->array) : py::none();
  }
};

// A running worker, used by its thread.
struct WorkerState {
  SharedServer server;
  lapse::Worker* worker = nullptr;         // null: it has ended
  adapm::IntentWorker* managed = nullptr;  // the same worker, of a manager
  bool is_left = false;                    // its attachment was destroyed: it ends soon
  std::thread::id thread = std::this_thread::get_id();
  // Handles that the garbage collector destroyed in other threads, under the interpreter's lock.
  std::vector<PendingOperation> orphans = {};
  std::vector<AnySample> orphaned_samples = {};
  std::vector<Lease> orphaned_leases = {};

  lapse::Worker& base() const {
    check();
    return *worker;
  }
  adapm::IntentWorker& adaptive() const {
    check();
    if (managed == nullptr) throw UsageError("this worker has no intents: use lapse.Manager");
    return *managed;
  }
  // Whether handles of this worker must not end in the calling thread.
  bool is_foreign() const { return worker != nullptr && std::this_thread::get_id() != thread; }
  void end() {
    // While the lock is released, other threads may add handles.
    while (!orphans.empty() || !orphaned_samples.empty() || !orphaned_leases.empty()) {
      const auto operations = std::exchange(orphans, {});
      auto samples = std::exchange(orphaned_samples, {});
      auto leases = std::exchange(orphaned_leases, {});
      const py::gil_scoped_release released;
      leases.clear();
      samples.clear();
    }
    worker = nullptr;
    managed = nullptr;
  }

 private:
  void check() const {
    if (worker == nullptr || is_left) throw UsageError("this worker has ended");
    if (std::this_thread::get_id() != thread) throw UsageError("a worker is used by its own thread alone");
  }
};
using SharedWorker = std::shared_ptr<WorkerState>;

class OperationHandle {
 public:
  OperationHandle(SharedWorker worker, PendingOperation pending)
      : worker_(std::move(worker)), pending_(std::move(pending)) {}
  OperationHandle(const OperationHandle&) = delete;
  OperationHandle& operator=(const OperationHandle&) = delete;
  ~OperationHandle() {
    if (worker_->is_foreign()) worker_->orphans.push_back(std::move(pending_));
  }
  bool done() const { return pending_.operation.done(); }
  py::object wait() {
    (void)worker_->base();
    return pending_.wait();
  }

 private:
  SharedWorker worker_;
  PendingOperation pending_;
};

// A registered function. Types of its argument and result: NumPy types, or None.
struct FunctionHandle {
  SharedServer server;
  const RegisteredFunction* function;
  const void* identity;
  py::object argument;
  py::object result;
};

struct SamplerHandle {
  SharedServer server;
  AnySampler sampler;
};
struct PreparedHandle {
  SharedWorker worker;
  AnySample sample;

  PreparedHandle(SharedWorker owner, AnySample prepared)
      : worker(std::move(owner)), sample(std::move(prepared)) {}
  PreparedHandle(const PreparedHandle&) = delete;
  PreparedHandle& operator=(const PreparedHandle&) = delete;
  ~PreparedHandle() {
    if (worker->is_foreign()) {
      worker->orphaned_samples.push_back(std::move(sample));
      return;
    }
    AnySample ending = std::move(sample);
    const py::gil_scoped_release released;
    const AnySample ended = std::move(ending);
  }
};

// In the order of lapse.MemoryUse.
inline py::tuple memory_tuple(const ParameterServer::MemoryUse& use) {
  return py::make_tuple(use.words, use.ownership, use.slabs, use.values, use.copies, use.buffers);
}

// Declares workers.
void declare_worker(py::module_& module);
// Declares their calls on single elements.
void declare_elements(py::class_<WorkerState, SharedWorker>& worker);
// Declares their calls at a key's owner.
void declare_local(py::class_<WorkerState, SharedWorker>& worker);
void declare_leases(py::module_& module, py::class_<WorkerState, SharedWorker>& worker);
// Declares intents and samples.
void declare_intents(py::module_& module, py::class_<WorkerState, SharedWorker>& worker);
// Declares functions of the application.
void declare_functions(py::module_& module);
// Declares tables and samplers.
void declare_table(py::module_& module);
void declare_checkpoints(py::module_& module);
void declare_jobs(py::module_& module);
// Declares hooks.
void declare_hooks(py::module_& module);
// Turns exceptions of the library into those of lapse/errors.py.
void declare_errors();

}  // namespace lapse::python
