// Converts exceptions of the library to those of lapse/errors.py.
#include "lapse/core/error.hpp"
#include "lapse/core/index_out_of_range.hpp"
#include "lapse/core/not_finite_update.hpp"

#include <exception>

#include "lapse/checkpoint/checkpoint_error.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

const char* class_of(const std::exception& error) {
  if (dynamic_cast<const KeyOutOfRange*>(&error) != nullptr) return "KeyOutOfRange";
  if (dynamic_cast<const LengthMismatch*>(&error) != nullptr) return "LengthMismatch";
  if (dynamic_cast<const IndexOutOfRange*>(&error) != nullptr) return "IndexOutOfRange";
  if (dynamic_cast<const NotFiniteUpdate*>(&error) != nullptr) return "NotFiniteUpdate";
  if (dynamic_cast<const ClosedError*>(&error) != nullptr) return "ClosedError";
  if (dynamic_cast<const CollectiveMismatch*>(&error) != nullptr) return "CollectiveMismatch";
  if (dynamic_cast<const UsageError*>(&error) != nullptr) return "UsageError";
  if (dynamic_cast<const ConfigurationError*>(&error) != nullptr) return "ConfigurationError";
  if (dynamic_cast<const MpiStateError*>(&error) != nullptr) return "MpiStateError";
  if (dynamic_cast<const MpiError*>(&error) != nullptr) return "MpiError";
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return "OutOfMemory";
  if (dynamic_cast<const PeerFailed*>(&error) != nullptr) return "PeerFailed";
  if (dynamic_cast<const UserCodeFailed*>(&error) != nullptr) return "UserCodeFailed";
  if (dynamic_cast<const CheckpointError*>(&error) != nullptr) return "CheckpointError";
  return "Error";
}

}  // namespace

void declare_errors() {
  // NOLINTNEXTLINE(performance-unnecessary-value-param): pybind11 passes it by value.
  py::register_exception_translator([](std::exception_ptr failure) {
    try {
      if (failure) std::rethrow_exception(failure);
    } catch (const lapse::Error& error) {
      const py::object type = py::module_::import("lapse.errors").attr(class_of(error));
      PyErr_SetString(type.ptr(), error.what());
    }
  });
}

}  // namespace lapse::python
