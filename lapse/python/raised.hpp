// Python exceptions of workers.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "lapse/core/error.hpp"

namespace lapse::python {

namespace py = pybind11;

// The text of a Python exception: "KeyError: 'inside' (train.py:25, in fill)".
std::string text_of(const py::object& raised);
// The caught exception, with its traceback.
py::object exception_of(py::error_already_set& error);

// The first exception of the workers of this rank in a phase.
//
// Thread safety: with the interpreter's lock.
class RaisedHere {
 public:
  void begin() { error_ = py::object(); }
  void keep(const py::object& error) {
    if (!error_) error_ = error;
  }
  // Calls phase() without the lock. If it throws PeerFailed, the kept exception becomes its cause.
  template <class F>
  void run(F&& phase) {
    try {
      const py::gil_scoped_release released;
      phase();
    } catch (const PeerFailed& failure) {
      if (!error_) throw;
      raise(failure);
    }
  }

 private:
  [[noreturn]] void raise(const PeerFailed& failure);

  py::object error_;
};

}  // namespace lapse::python
