// Calls at a key's owner in the Python package: functions, updates in place.
#include <string>
#include <vector>

#include "lapse/ps/function.hpp"
#include "lapse/python/callbacks.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

// --- functions

std::string describe_type(ElementType type) {
  return py::str(py::object(dtype_of(type))).cast<std::string>();
}

PendingOperation begin_call(WorkerState& worker, const TableHandleOf& table, const FunctionHandle& function,
                            const py::object& keys, const py::object& arguments) {
  Worker& base = worker.base();
  const ElementType element =
      table.visit([](const auto& typed) { return element_type<ElementOf<decltype(typed)>>(); });
  if (element != function.function->type)
    throw UsageError("the function '" + function.function->name + "' is for values of " +
                     describe_type(function.function->type) + ", the table has " + describe_type(element));
  const HeldArray held = keys_of(keys);
  const auto rows = static_cast<py::ssize_t>(held.size());
  std::optional<HeldArray> given;
  if (function.argument.is_none() != arguments.is_none())
    throw py::type_error("the function '" + function.function->name + "' has " +
                         (arguments.is_none() ? "an argument for each key" : "no arguments"));
  if (!arguments.is_none()) {
    given.emplace(HeldArray{converted(arguments, "arguments", py::dtype::from_args(function.argument))});
    if (given->array.ndim() != 1 || given->array.shape(0) != rows)
      throw LengthMismatch(table.visit([](const auto& typed) { return typed.name(); }), "arguments",
                           static_cast<std::size_t>(given->array.size()), held.size(), base.rank());
  }
  std::optional<HeldArray> results;
  if (!function.result.is_none())
    results.emplace(
        HeldArray{py::array(py::dtype::from_args(function.result), py::array::ShapeContainer{rows})});
  const std::byte* const from = given ? reinterpret_cast<const std::byte*>(given->data()) : nullptr;
  std::byte* const to = results ? reinterpret_cast<std::byte*>(results->data()) : nullptr;
  const std::span<const Key> span = key_span(held);
  Operation operation = unlocked([&] {
    return table.visit([&](const auto& typed) {
      return base.call(typed.handle(), *function.function, function.identity, span, from, to);
    });
  });
  return {std::move(operation), std::move(results)};
}

// --- values in local memory

const char* locality(WorkerState& worker, const TableHandleOf& table, const py::object& of) {
  Worker& base = worker.base();
  const Key key = key_of(of);
  const py::gil_scoped_release released;
  switch (table.visit([&](const auto& typed) { return base.locality(typed, key); })) {
    case Locality::local:
      return "local";
    case Locality::not_local:
      break;
    case Locality::private_to_neighbour:
      return "private_to_neighbour";
  }
  return "not_local";
}

bool update_if_local(WorkerState& worker, const TableHandleOf& table, const py::object& of,
                     const py::object& function) {
  Worker& base = worker.base();
  const Key key = key_of(of);
  const SharedObject shared(function);
  // The function's exceptions go to the caller unchanged.
  std::optional<py::error_already_set> raised;
  const bool done = unlocked([&] {
    return table.visit([&](const auto& typed) {
      using T = ElementOf<decltype(typed)>;
      return base.update_if_local(typed, key, [&](std::span<T> value) {
        const py::gil_scoped_acquire locked;
        const auto bytes = reinterpret_cast<std::byte*>(value.data());
        try {
          const py::array elements = copy_of(element_type<T>(), bytes, value.size());
          function(elements);
          copy_back(elements, std::as_writable_bytes(value));
        } catch (py::error_already_set& error) {
          raised.emplace(std::move(error));
        }
      });
    });
  });
  if (raised) throw std::move(*raised);
  return done;
}

py::tuple local_values(WorkerState& worker, const TableHandleOf& table) {
  Worker& base = worker.base();
  return table.visit([&](const auto& typed) {
    using T = ElementOf<decltype(typed)>;
    std::vector<std::uint64_t> keys;
    std::vector<T> values;
    unlocked([&] {
      base.for_each_local(typed, [&](Key key, std::span<const T> value) {
        keys.push_back(key.value());
        values.insert(values.end(), value.begin(), value.end());
      });
    });
    const auto rows = static_cast<py::ssize_t>(keys.size());
    const auto length = static_cast<py::ssize_t>(typed.length());
    const auto shape =
        length == 0 ? std::vector{static_cast<py::ssize_t>(values.size())} : std::vector{rows, length};
    return py::make_tuple(py::array_t<std::uint64_t>(rows, keys.data()),
                          py::array_t<T>(shape, values.data()));
  });
}

}  // namespace

void declare_local(py::class_<WorkerState, SharedWorker>& worker) {
  using namespace py::literals;
  worker
      .def(
          "call",
          [](WorkerState& self, const TableHandleOf& table, const FunctionHandle& function,
             const py::object& keys, const py::object& arguments) {
            return begin_call(self, table, function, keys, arguments).wait();
          },
          "table"_a, "function"_a, "keys"_a, "arguments"_a = py::none(),
          "Runs a registered function at the owner of each key, and waits. Returns its results, or None.")
      .def(
          "call_async",
          [](const SharedWorker& self, const TableHandleOf& table, const FunctionHandle& function,
             const py::object& keys, const py::object& arguments) {
            return std::make_unique<OperationHandle>(self,
                                                     begin_call(*self, table, function, keys, arguments));
          },
          "table"_a, "function"_a, "keys"_a, "arguments"_a = py::none(),
          "Like call, without waiting: an Operation.")
      .def("locality", &locality, "table"_a, "key"_a, "local, not_local, or private_to_neighbour.")
      .def("update_if_local", &update_if_local, "table"_a, "key"_a, "function"_a,
           "Calls function(value) with the array of a value in the memory of this rank; it may change the "
           "array.\n"
           "Returns whether the value was there.")
      .def("local_values", &local_values, "table"_a,
           "Returns the keys whose values are in the memory of this rank, and these values.");
}

}  // namespace lapse::python
