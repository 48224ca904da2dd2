#include "lapse/python/arrays.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace lapse::python {

namespace {

py::object conversion(const char* function) {
  return py::module_::import("lapse.conversion").attr(function);
}

bool is_of_subclass(const py::array& array) {
  return Py_TYPE(array.ptr()) != reinterpret_cast<PyTypeObject*>(py::detail::npy_api::get().PyArray_Type_);
}

}  // namespace

py::array array_of(const py::object& given, const char* what, const py::dtype& type, bool written) {
  py::array array;
  if (py::isinstance<py::array>(given)) {
    array = py::reinterpret_borrow<py::array>(given);
    if (is_of_subclass(array)) conversion("plain")(array, what);
    return array;
  }
  return written ? conversion("written")(given, what) : conversion("values")(given, what, type);
}

py::array converted(const py::object& given, const char* what, const py::dtype& type) {
  return conversion("converted")(given, what, type);
}

py::array key_array_of(const py::object& given) {
  if (py::isinstance<py::array>(given)) return array_of(given, "keys", py::dtype::of<std::int64_t>(), false);
  return conversion("keys")(given);
}

void refuse_negative(const py::array& keys) {
  const std::span<const std::int64_t> numbers(static_cast<const std::int64_t*>(keys.data()),
                                              static_cast<std::size_t>(keys.size()));
  std::int64_t signs = 0;
  for (const std::int64_t number : numbers) signs |= number;
  if (signs >= 0) return;
  const auto negative = std::ranges::find_if(numbers, [](std::int64_t number) { return number < 0; });
  const py::object type = py::module_::import("lapse.errors").attr("KeyOutOfRange");
  const std::string text = "key " + std::to_string(*negative) +
                           ": expected keys from 0 on; an array of those from 2**63 on is of uint64";
  PyErr_SetString(type.ptr(), text.c_str());
  throw py::error_already_set();
}

void check_rows(const py::array& values, const char* what, std::size_t keys) {
  if (values.ndim() < 2 || keys == 1 || values.shape(0) == static_cast<py::ssize_t>(keys)) return;
  throw py::value_error(std::string(what) + " of shape " + py::str(values.attr("shape")).cast<std::string>() +
                        " for " + std::to_string(keys) + " keys: expected a row for each key");
}

}  // namespace lapse::python
