// Log lines, fatal ends and regions, for functions of Python.
#include "lapse/core/hooks.hpp"

#include <condition_variable>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "lapse/core/log.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

// Where threads of the library enter the interpreter, until that ends: later its lock cannot be taken.
//
// Thread safety: any thread. A thread that enters may hold locks of the library; so no thread waits for the
// library while it has the lock of the interpreter.
class Gate {
 public:
  // Calls f() with the interpreter's lock. False, and no call, when the interpreter ends.
  template <class F>
  bool enter(F&& f) noexcept {
    {
      const MutexLock guard(mutex_);
      if (closed_) return false;
      ++inside_;
    }
    call(std::forward<F>(f));
    const MutexLock guard(mutex_);
    --inside_;
    left_.notify_all();
    return true;
  }
  // With the interpreter's lock, before the interpreter ends: waits until every thread has left.
  void close() {
    const py::gil_scoped_release released;
    const MutexLock guard(mutex_);
    closed_ = true;
    mutex_.wait(left_, [&]() LAPSE_REQUIRES(mutex_) { return inside_ == 0; });
  }

 private:
  // What a function raises goes to sys.unraisablehook: no caller could handle it.
  template <class F>
  static void call(F&& f) noexcept {
    const py::gil_scoped_acquire locked;
    try {
      std::forward<F>(f)();
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("a hook of lapse");
    } catch (const std::exception& error) {
      PyErr_SetString(PyExc_RuntimeError, error.what());
      PyErr_WriteUnraisable(nullptr);
    }
  }

  Mutex mutex_;
  std::condition_variable left_;
  bool closed_ LAPSE_GUARDED_BY(mutex_) = false;
  int inside_ LAPSE_GUARDED_BY(mutex_) = 0;
};

// Lives as long as the process: threads may log while it ends.
Gate& gate() {
  static auto& of_process = *std::make_unique<Gate>().release();
  return of_process;
}

// Any thread drops it; what is dropped after the end of the interpreter stays in memory.
std::shared_ptr<const py::object> shared(const py::object& function) {
  return {new py::object(function), [](const py::object* dropped) { gate().enter([&] { delete dropped; }); }};
}

// What is no UTF-8 shows as such.
py::str text_of(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

// Of what takes a thread's time; called with the name.
std::function<void(const char*)> region_hook(const py::object& function) {
  if (function.is_none()) return {};
  return [f = shared(function)](const char* name) { gate().enter([&] { (*f)(name); }); };
}

void set_hooks(const py::object& log, const py::object& fatal, const py::object& begin_region,
               const py::object& end_region) {
  Hooks hooks;
  if (!log.is_none()) {
    hooks.log = [f = shared(log)](LogLevel level, Rank rank, std::string_view message) {
      gate().enter([&] { (*f)(to_string(level), rank.value(), text_of(message)); });
    };
  }
  if (!fatal.is_none()) {
    hooks.fatal = [f = shared(fatal)](Rank rank, std::string_view reason) {
      gate().enter([&] { (*f)(rank.value(), text_of(reason)); });
    };
  }
  hooks.begin_region = region_hook(begin_region);
  hooks.end_region = region_hook(end_region);
  const py::gil_scoped_release released;
  lapse::set_hooks(std::move(hooks));
}

// Messages go to standard error again, and no thread calls Python.
void end_hooks() {
  set_hooks(py::none(), py::none(), py::none(), py::none());
  gate().close();
}

}  // namespace

void declare_hooks(py::module_& module) {
  module.def("set_hooks", &set_hooks);
  module.def("end_hooks", &end_hooks);
}

}  // namespace lapse::python
