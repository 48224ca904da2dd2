// Passes log lines, fatal errors and regions to Python functions.
#include "lapse/core/hooks.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "lapse/core/log.hpp"
#include "lapse/core/mutex.hpp"
#include "lapse/core/tracing/trace_notes.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

// Lets threads of the library enter the interpreter until it ends; afterwards its lock cannot be taken.
//
// Thread safety: any thread. A thread that enters may hold locks of the library, so no thread may wait for
// the library while it holds the interpreter's lock.
class Gate {
 public:
  // Calls f() with the interpreter's lock. Returns false, without a call, if the interpreter ends.
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
  // Waits until every thread has left. Requires the interpreter's lock; called before the interpreter ends.
  void close() {
    const py::gil_scoped_release released;
    const MutexLock guard(mutex_);
    closed_ = true;
    mutex_.wait(left_, [&]() LAPSE_REQUIRES(mutex_) { return inside_ == 0; });
  }

 private:
  // Exceptions go to sys.unraisablehook: no caller could handle them.
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

// Never destroyed: threads may log while the process ends.
Gate& gate() {
  static auto& of_process = *std::make_unique<Gate>().release();
  return of_process;
}

// Any thread may drop it. Objects dropped after the end of the interpreter stay in memory.
std::shared_ptr<const py::object> shared(const py::object& function) {
  return {new py::object(function), [](const py::object* dropped) { gate().enter([&] { delete dropped; }); }};
}

// Shows invalid UTF-8 as replacement characters.
py::str text_of(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "replace"));
}

// A region hook that calls the function with the region's name.
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

// Removes all hooks: messages go to standard error, and no thread calls Python.
void end_hooks() {
  set_hooks(py::none(), py::none(), py::none(), py::none());
  gate().close();
}

}  // namespace

void declare_hooks(py::module_& module) {
  module.def("set_hooks", &set_hooks);
  module.def("end_hooks", &end_hooks);
  module.def("trace_band", [](const std::string& name, double seconds) {
    trace_band(name, seconds_ago(seconds), std::chrono::steady_clock::now());
  });
  module.def("trace_note",
             [](const std::string& name, const std::string& value) { trace_note(name, value); });
}

}  // namespace lapse::python
