#include "lapse/python/arrays.hpp"

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

void check_rows(const py::array& values, const char* what, std::size_t keys) {
  if (values.ndim() < 2 || keys == 1 || values.shape(0) == static_cast<py::ssize_t>(keys)) return;
  throw py::value_error(std::string(what) + " of shape " + py::str(values.attr("shape")).cast<std::string>() +
                        " for " + std::to_string(keys) + " keys: expected a row for each key");
}

}  // namespace lapse::python
