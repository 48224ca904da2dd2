// Single elements of values, in the Python package.
#include <pybind11/stl.h>

#include "lapse/ps/elements.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

// The indices of a call, as numbers of 32 bits without a sign.
struct HeldIndices {
  HeldArray array;
  std::span<const std::uint32_t> span() const { return value_span<const std::uint32_t>(array); }
};

HeldIndices indices_of(const py::object& given) {
  if (py::isinstance<py::array>(given)) {
    const py::array array = array_of(given, "indices", py::dtype::of<std::uint32_t>(), false);
    if (has_elements<std::uint32_t>(array) && is_plain(array)) return {{array}};
  }
  return {{converted(given, "indices", py::dtype::of<std::uint32_t>())}};
}

// Calls f(typed table, keys, indices) with one key or a span of keys, without the interpreter's lock.
template <class T, class F>
Operation begin(const Table<T>& table, const HeldArray& keys, const HeldIndices& indices, const F& f) {
  const std::span<const Key> span = key_span(keys);
  const std::span<const std::uint32_t> at = indices.span();
  const py::gil_scoped_release released;
  return span.size() == 1 ? f(table, span[0], at) : f(table, span, at);
}

PendingOperation begin_pull(WorkerState& worker, const TableHandleOf& table, const py::object& keys,
                            const py::object& indices, const py::object& out) {
  Worker& base = worker.base();
  const HeldArray held = keys_of(keys);
  const HeldIndices at = indices_of(indices);
  return std::visit(
      [&](const auto& typed) {
        using T = typename std::remove_cvref_t<decltype(typed)>::element;
        HeldArray values = out.is_none()
                               ? HeldArray{py::array_t<T>(static_cast<py::ssize_t>(at.array.size()))}
                               : values_of<T>(out, "values", true);
        const std::span<T> to = value_span<T>(values);
        Operation operation = begin(typed, held, at, [&](const auto& of, const auto& key, auto index) {
          return base.pull_elements(of, key, index, to);
        });
        return PendingOperation(std::move(operation), std::move(values));
      },
      table.table);
}

PendingOperation begin_push(WorkerState& worker, const TableHandleOf& table, const py::object& keys,
                            const py::object& indices, const py::object& updates, float scale) {
  Worker& base = worker.base();
  const HeldArray held = keys_of(keys);
  const HeldIndices at = indices_of(indices);
  return std::visit(
      [&](const auto& typed) {
        using T = typename std::remove_cvref_t<decltype(typed)>::element;
        const HeldArray given = values_of<T>(updates, "updates", false);
        const std::span<const T> from = value_span<const T>(given);
        Operation operation = begin(typed, held, at, [&](const auto& of, const auto& key, auto index) {
          return base.push_elements(of, key, index, from, scale);
        });
        return PendingOperation(std::move(operation), std::nullopt);
      },
      table.table);
}

}  // namespace

void declare_elements(py::class_<WorkerState, SharedWorker>& worker) {
  using namespace py::literals;
  worker
      .def(
          "pull_elements",
          [](WorkerState& caller, const TableHandleOf& table, const py::object& keys,
             const py::object& indices, const py::object& out) -> py::object {
            PendingOperation pending = begin_pull(caller, table, keys, indices, out);
            {
              const py::gil_scoped_release released;
              pending.operation.wait();
            }
            return std::move(pending.values->array);
          },
          "table"_a, "keys"_a, "indices"_a, "out"_a = py::none(),
          "Waits for single elements, in out or in a new array, and returns them.\n\n"
          "Each has a key and an index in the key's value; one key is that of all indices.")
      .def(
          "push_elements",
          [](WorkerState& caller, const TableHandleOf& table, const py::object& keys,
             const py::object& indices, const py::object& updates, float scale) {
            PendingOperation pending = begin_push(caller, table, keys, indices, updates, scale);
            const py::gil_scoped_release released;
            pending.operation.wait();
          },
          "table"_a, "keys"_a, "indices"_a, "updates"_a, "scale"_a = 1.0F,
          "Applies an update to each element by the table's rule, multiplied by scale, and waits.\n\n"
          "The rules add, sgd, adagrad and ftrl can do that.")
      .def(
          "pull_elements_async",
          [](const SharedWorker& caller, const TableHandleOf& table, const py::object& keys,
             const py::object& indices, const py::object& out) {
            return std::make_unique<OperationHandle>(caller, begin_pull(*caller, table, keys, indices, out));
          },
          "table"_a, "keys"_a, "indices"_a, "out"_a = py::none(),
          "Like pull_elements, without waiting: an Operation.")
      .def(
          "push_elements_async",
          [](const SharedWorker& caller, const TableHandleOf& table, const py::object& keys,
             const py::object& indices, const py::object& updates, float scale) {
            return std::make_unique<OperationHandle>(
                caller, begin_push(*caller, table, keys, indices, updates, scale));
          },
          "table"_a, "keys"_a, "indices"_a, "updates"_a, "scale"_a = 1.0F,
          "Like push_elements, without waiting: an Operation.");
}

}  // namespace lapse::python
