#include "lapse/python/raised.hpp"

#include <utility>

namespace lapse::python {

std::string text_of(const py::object& raised) {
  std::string text = py::type::of(raised).attr("__name__").cast<std::string>();
  if (const auto what = py::str(raised).cast<std::string>(); !what.empty()) text += ": " + what;
  py::object trace = raised.attr("__traceback__");
  if (trace.is_none()) return text;
  while (!trace.attr("tb_next").is_none()) trace = trace.attr("tb_next");
  const py::object code = trace.attr("tb_frame").attr("f_code");
  return text + " (" + code.attr("co_filename").cast<std::string>() + ":" +
         py::str(trace.attr("tb_lineno")).cast<std::string>() + ", in " +
         code.attr("co_name").cast<std::string>() + ")";
}

py::object exception_of(py::error_already_set& error) {
  if (error.trace()) PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
  return error.value();
}

void RaisedHere::raise(const PeerFailed& failure) {
  const py::object type = py::module_::import("lapse.errors").attr("PeerFailed");
  const py::object raised = type(failure.what());
  raised.attr("__cause__") = std::exchange(error_, py::object());
  PyErr_SetObject(type.ptr(), raised.ptr());
  throw py::error_already_set();
}

}  // namespace lapse::python
