#include "lapse/python/refusals.hpp"

#include <structmember.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lapse::python {

namespace py = pybind11;

namespace {

// Wraps a pybind11 function, with its name and docstring. As a member of a class it is a method.
struct ExplainedFunction {
  PyObject head;
  PyObject* function;
  vectorcallfunc call;
};

PyObject* function_of(PyObject* self) {
  return reinterpret_cast<ExplainedFunction*>(self)->function;
}

// Replaces the current error if pybind11 has refused the arguments.
void explain(PyObject* const* arguments, std::size_t given, PyObject* names) {
  py::error_already_set refused;
  const auto text = py::str(refused.value()).cast<std::string>();
  const bool is_refusal = text.find("incompatible function arguments") != std::string::npos;
  try {
    if (is_refusal) {
      py::list positional;
      for (std::size_t i = 0; i < given; ++i) positional.append(py::handle(arguments[i]));
      py::dict named;
      const std::size_t names_given =
          names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names));
      for (std::size_t i = 0; i < names_given; ++i)
        named[py::handle(PyTuple_GET_ITEM(names, static_cast<py::ssize_t>(i)))] =
            py::handle(arguments[given + i]);
      const py::object message =
          py::module_::import("lapse.refusals").attr("message")(text, positional, named);
      PyErr_SetObject(PyExc_TypeError, message.ptr());
      return;
    }
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("the text of an error");
  }
  refused.restore();
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  PyObject* const result = PyObject_Vectorcall(function_of(self), arguments, flags, names);
  if (result == nullptr && PyErr_ExceptionMatches(PyExc_TypeError))
    explain(arguments, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names);
  return result;
}

PyObject* bind(PyObject* self, PyObject* object, PyObject* /*type*/) {
  if (object == nullptr || object == Py_None) return Py_NewRef(self);
  return PyMethod_New(self, object);
}

// Forwards the name and the docstring of the function.
PyObject* attribute(PyObject* self, PyObject* name) {
  const auto text = py::handle(name).cast<std::string_view>();
  if (text == "__doc__" || text == "__name__" || text == "__qualname__" || text == "__module__")
    return PyObject_GetAttr(function_of(self), name);
  return PyObject_GenericGetAttr(self, name);
}

void destroy(PyObject* self) {
  PyTypeObject* const type = Py_TYPE(self);
  Py_DECREF(function_of(self));
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* make_type() {
  static std::array<PyMemberDef, 2> members{
      {{"__vectorcalloffset__", T_PYSSIZET, offsetof(ExplainedFunction, call), READONLY, nullptr},
       {nullptr, 0, 0, 0, nullptr}}};
  static std::array<PyType_Slot, 6> slots{{{Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                           {Py_tp_descr_get, reinterpret_cast<void*>(&bind)},
                                           {Py_tp_getattro, reinterpret_cast<void*>(&attribute)},
                                           {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
                                           {Py_tp_members, members.data()},
                                           {0, nullptr}}};
  static PyType_Spec spec{"lapse._native.function", sizeof(ExplainedFunction), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
                          slots.data()};
  PyObject* const type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

py::object explained(PyTypeObject* type, const py::handle function) {
  auto* const made = reinterpret_cast<ExplainedFunction*>(type->tp_alloc(type, 0));
  if (made == nullptr) throw py::error_already_set();
  made->function = function.inc_ref().ptr();
  made->call = &call;
  return py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(made));
}

// The current names and values of a module or a class.
std::vector<std::pair<std::string, py::object>> members_of(const py::handle holder) {
  std::vector<std::pair<std::string, py::object>> members;
  for (const py::handle item : py::list(holder.attr("__dict__").attr("items")())) {
    const auto pair = item.cast<py::tuple>();
    members.emplace_back(pair[0].cast<std::string>(), pair[1]);
  }
  return members;
}

bool is_special(const std::string& name) {
  return name.starts_with("__") && name != "__exit__" && name != "__enter__";
}

}  // namespace

void explain_refusals(py::module_& module) {
  PyTypeObject* const type = make_type();  // never freed
  for (const auto& [name, value] : members_of(module)) {
    if (PyCFunction_Check(value.ptr())) module.attr(name.c_str()) = explained(type, value);
    if (!PyType_Check(value.ptr())) continue;
    for (const auto& [method, function] : members_of(value)) {
      if (PyInstanceMethod_Check(function.ptr()) && !is_special(method))
        value.attr(method.c_str()) = explained(type, PyInstanceMethod_GET_FUNCTION(function.ptr()));
    }
  }
}

}  // namespace lapse::python
