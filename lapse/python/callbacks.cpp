#include "lapse/python/callbacks.hpp"

#include <pybind11/stl.h>

#include <cstring>
#include <string>

#include "lapse/ps/function.hpp"
#include "lapse/python/handles.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"

namespace lapse::python {

namespace {

// --- rules

struct PythonRule {
  ElementType type;
  std::size_t state;    // state elements per value
  SharedObject object;  // lapse.Rule

  static const PythonRule& of(const void* rule) { return *static_cast<const PythonRule*>(rule); }
  std::byte* state_of(std::byte* value, std::size_t length) const {
    return value + length * element_bytes(type);
  }
};

Merge merge_of(const std::string& name) {
  if (name == "additive") return Merge::additive_slot;
  if (name == "gradient") return Merge::gradient;
  if (name == "none") return Merge::none;
  throw ConfigurationError("a rule that merges '" + name + "': expected additive, gradient or none");
}

// --- registered functions

// One element of that type, with these bytes.
py::object element_at(const py::object& type, const std::byte* bytes) {
  const py::array one(py::dtype::from_args(type), {py::ssize_t{1}}, bytes);
  return one.attr("__getitem__")(0);
}

// Other ranks get the bytes: they must be the complete content, and their number must follow from the type.
std::size_t bytes_of_type(const py::object& type, std::string_view what) {
  if (type.is_none()) return 0;
  const py::dtype checked = py::dtype::from_args(type);
  if (checked.attr("hasobject").cast<bool>() || checked.itemsize() == 0) {
    throw ConfigurationError("the " + std::string(what) + " of a function has the type " +
                             py::str(py::object(checked)).cast<std::string>() +
                             ": expected one of a fixed size without objects of Python");
  }
  return static_cast<std::size_t>(checked.itemsize());
}

std::unique_ptr<FunctionHandle> register_function(const SharedServer& server, const std::string& name,
                                                  const py::object& function, const py::dtype& element,
                                                  const py::object& argument, const py::object& result) {
  RegisteredFunction definition;
  definition.name = name;
  definition.type = element_of(element);
  definition.argument_bytes = bytes_of_type(argument, "argument");
  definition.result_bytes = bytes_of_type(result, "result");
  if (std::max(definition.argument_bytes, definition.result_bytes) > kMaxFunctionBytes)
    throw ConfigurationError("the function '" + name + "': an argument and a result have at most " +
                             std::to_string(kMaxFunctionBytes) + " bytes");
  definition.run = [shared = SharedObject(py::make_tuple(function, argument, result)),
                    type = definition.type](Key key, std::byte* value, std::size_t length,
                                            const std::byte* argument_bytes, std::byte* result_bytes) {
    shared.use([&](const py::object& held) {
      const auto parts = held.cast<py::tuple>();
      const py::object f = parts[0];
      const py::object argument_type = parts[1];
      const py::object result_type = parts[2];
      const py::array elements = copy_of(type, value, length);
      const py::object returned = argument_type.is_none()
                                      ? f(key.value(), elements)
                                      : f(key.value(), elements, element_at(argument_type, argument_bytes));
      if (!result_type.is_none()) {
        const py::array one(py::dtype::from_args(result_type), py::array::ShapeContainer{1});
        py::list results;
        results.append(returned);
        one.attr("__setitem__")(py::ellipsis(), converted(results, "the result of a function", one.dtype()));
        copy_back(one, {result_bytes, static_cast<std::size_t>(one.nbytes())});
      }
      copy_back(elements, {value, length * element_bytes(type)});
    });
  };
  ParameterServer& owner = server->server();
  const py::gil_scoped_release released;
  const RegisteredFunction& made = owner.register_function(std::move(definition));
  const void* const identity = owner.identity();
  const py::gil_scoped_acquire locked;
  return std::make_unique<FunctionHandle>(FunctionHandle{server, &made, identity, argument, result});
}

}  // namespace

py::dtype dtype_of(ElementType type) {
  return visit_element(type, [](auto element) { return py::dtype::of<decltype(element)>(); });
}

ElementType element_of(const py::dtype& type) {
  for (const ElementType known :
       {ElementType::float32, ElementType::float64, ElementType::int32, ElementType::int64})
    if (type.equal(dtype_of(known))) return known;
  throw ConfigurationError("elements of " + py::str(py::object(type)).cast<std::string>() +
                           ": expected float32, float64, int32 or int64");
}

py::array copy_of(ElementType type, const std::byte* elements, std::size_t count) {
  return {dtype_of(type), {static_cast<py::ssize_t>(count)}, elements};
}

void copy_back(const py::array& from, std::span<std::byte> to) {
  if (static_cast<std::size_t>(from.nbytes()) != to.size())
    throw py::value_error("an array was resized that a function was given: expected " +
                          std::to_string(to.size()) + " bytes, has " + std::to_string(from.nbytes()));
  std::memcpy(to.data(), from.data(), to.size());
}

UpdateRule custom_rule(const py::object& rule, ElementType type) {
  CustomRuleFunctions functions;
  functions.type = type;
  functions.name = rule.attr("name").cast<std::string>();
  functions.merge = merge_of(rule.attr("merge").cast<std::string>());
  functions.rule = std::make_shared<const PythonRule>(
      PythonRule{type, rule.attr("state").cast<std::size_t>(), SharedObject(rule)});
  functions.state_elements = [](const void* self, std::size_t) { return PythonRule::of(self).state; };
  functions.initialise = [](const void* self, std::byte* value, std::size_t length) {
    const PythonRule& typed = PythonRule::of(self);
    if (typed.state == 0) return;
    std::byte* const state = typed.state_of(value, length);
    std::memset(state, 0, typed.state * element_bytes(typed.type));
    typed.object.use([&](const py::object& python) {
      const py::object initialise = python.attr("initialise");
      if (initialise.is_none()) return;
      const py::array made = copy_of(typed.type, state, typed.state);
      initialise(copy_of(typed.type, value, length), made);
      copy_back(made, {state, typed.state * element_bytes(typed.type)});
    });
  };
  functions.apply = [](const void* self, std::byte* value, const std::byte* update, std::size_t length,
                       float scale) {
    const PythonRule& typed = PythonRule::of(self);
    typed.object.use([&](const py::object& python) {
      const py::array values = copy_of(typed.type, value, length);
      const py::array states = copy_of(typed.type, typed.state_of(value, length), typed.state);
      python.attr("apply")(values, states, copy_of(typed.type, update, length), scale);
      std::byte* const state = typed.state_of(value, length);
      copy_back(values, {value, state});
      copy_back(states, {state, typed.state * element_bytes(typed.type)});
    });
  };
  return UpdateRule::from_functions(std::move(functions));
}

void declare_functions(py::module_& module) {
  const py::class_<FunctionHandle> function(module, "Function", "A registered function of the application.");
  module.def("register_function", &register_function);
}

}  // namespace lapse::python
