// Workers of the Python package.
#include <pybind11/stl.h>

#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

// --- accesses

template <class F>
decltype(auto) visit(const TableHandleOf& table, F&& f) {
  return table.visit(std::forward<F>(f));
}

// A new array for the values of the keys.
template <class T>
HeldArray new_values(const Table<T>& table, std::span<const Key> keys) {
  const auto rows = static_cast<py::ssize_t>(keys.size());
  if (table.length() != 0) return {py::array_t<T>({rows, static_cast<py::ssize_t>(table.length())})};
  std::size_t elements = 0;
  for (const Key key : keys) elements += table.length(key);
  return {py::array_t<T>(static_cast<py::ssize_t>(elements))};
}

// The array that a pull writes to: `out`, or a new one.
template <class T>
HeldArray pulled_values(const Table<T>& table, std::span<const Key> keys, const py::object& out) {
  HeldArray values = out.is_none() ? new_values(table, keys) : values_of<T>(out, "values", true);
  check_rows(values.array, "values", keys.size());
  return values;
}

PendingOperation begin_pull(WorkerState& worker, const TableHandleOf& table, const HeldArray& keys,
                            const py::object& out) {
  Worker& base = worker.base();
  return table.visit([&](const auto& typed) {
    using T = ElementOf<decltype(typed)>;
    const std::span<const Key> span = key_span(keys);
    HeldArray values = pulled_values(typed, span, out);
    const std::span<T> to = value_span<T>(values);
    Operation operation = unlocked([&] { return base.pull(typed, span, to); });
    return PendingOperation(std::move(operation), std::move(values));
  });
}

py::object pull(WorkerState& worker, const TableHandleOf& table, const py::object& keys,
                const py::object& out) {
  const HeldArray held = keys_of(keys);
  Worker& base = worker.base();
  return table.visit([&](const auto& typed) -> py::object {
    using T = ElementOf<decltype(typed)>;
    const std::span<const Key> span = key_span(held);
    HeldArray values = pulled_values(typed, span, out);
    const std::span<T> to = value_span<T>(values);
    unlocked([&] { base.pull(typed, span, to).wait(); });
    return std::move(values.array);
  });
}

enum class Write { push, set };

PendingOperation begin_write(WorkerState& worker, Write what, const TableHandleOf& table,
                             const py::object& keys, const py::object& given, float scale) {
  Worker& base = worker.base();
  const HeldArray held = keys_of(keys);
  return table.visit([&](const auto& typed) {
    using T = ElementOf<decltype(typed)>;
    const char* const name = what == Write::push ? "updates" : "values";
    const HeldArray values = values_of<T>(given, name, false);
    check_rows(values.array, name, held.size());
    const std::span<const T> from = value_span<const T>(values);
    const std::span<const Key> span = key_span(held);
    return PendingOperation(unlocked([&] {
                              return what == Write::push ? base.push(typed, span, from, scale)
                                                         : base.set(typed, span, from);
                            }),
                            std::nullopt);
  });
}

PendingOperation begin_localize(WorkerState& worker, const TableHandleOf& table, const py::object& keys) {
  Worker& base = worker.base();
  const HeldArray held = keys_of(keys);
  return table.visit([&](const auto& typed) {
    const std::span<const Key> span = key_span(held);
    return PendingOperation(unlocked([&] { return base.localize(typed, span); }), std::nullopt);
  });
}

py::object pull_if_local(WorkerState& worker, const TableHandleOf& table, const py::object& of) {
  Worker& base = worker.base();
  const Key key = key_of(of);
  return table.visit([&](const auto& typed) -> py::object {
    using T = ElementOf<decltype(typed)>;
    py::array_t<T> value(static_cast<py::ssize_t>(typed.length(key)));
    const std::span<T> to(value.mutable_data(), static_cast<std::size_t>(value.size()));
    const bool done = unlocked([&] { return base.pull_if_local(typed, key, to); });
    return done ? py::object(value) : py::none();
  });
}

// --- collective

Reduce reduction_of(const std::string& name) {
  if (name == "sum") return Reduce::sum;
  if (name == "min") return Reduce::min;
  if (name == "max") return Reduce::max;
  throw py::value_error("a reduction '" + name + "': expected sum, min or max");
}

py::array array_from(const py::object& given) {
  py::array array = py::array::ensure(given);
  if (!array)
    throw py::type_error("values are a " + std::string(Py_TYPE(given.ptr())->tp_name) +
                         ", expected an array");
  return array;
}

// Reduces the array in place.
py::object reduce_array(WorkerState& worker, const py::array& values, const std::string& reduce) {
  Worker& base = worker.base();
  const Reduce how = reduction_of(reduce);
  const auto run = [&](const HeldArray& held, auto element) {
    const std::span<decltype(element)> span = value_span<decltype(element)>(held);
    unlocked([&] { base.all_reduce(span, how); });
  };
  if (has_elements<double>(values)) {
    run(values_of<double>(values, "values", true), double{});
  } else if (has_elements<std::int64_t>(values)) {
    run(values_of<std::int64_t>(values, "values", true), std::int64_t{});
  } else {
    throw py::type_error("values of " + describe(values) + ": expected float64 or int64");
  }
  return values;
}

// Returns the result for a number; changes and returns an array.
py::object all_reduce(WorkerState& worker, const py::object& given, const std::string& reduce) {
  const py::object number = py::module_::import("lapse.conversion").attr("number")(given, "values");
  if (number.is_none()) return reduce_array(worker, array_from(given), reduce);
  return reduce_array(worker, number, reduce).attr("item")();
}

py::object broadcast(WorkerState& worker, const py::object& given, std::size_t root) {
  Worker& base = worker.base();
  const py::array values = array_from(given);
  if (!is_plain(values) || !values.writeable())
    throw py::value_error("values with gaps, or read-only: expected a C-contiguous array");
  if (values.dtype().attr("hasobject").cast<bool>())
    throw py::type_error(
        "an array with objects of Python: expected numbers, whose bytes mean the same on all ranks");
  const std::span<std::byte> bytes(reinterpret_cast<std::byte*>(HeldArray{values}.data()),
                                   static_cast<std::size_t>(values.nbytes()));
  unlocked([&] { base.broadcast(bytes, root); });
  return values;
}

}  // namespace

void declare_worker(py::module_& module) {
  using namespace py::literals;
  const auto handle = [](const SharedWorker& worker, PendingOperation pending) {
    return std::make_unique<OperationHandle>(worker, std::move(pending));
  };
  // Calls this member of the worker.
  const auto of = [](auto member) {
    return [member](const WorkerState& worker) { return (worker.base().*member)(); };
  };
  const py::call_guard<py::gil_scoped_release> released;
  py::class_<OperationHandle>(module, "Operation", "An asynchronous operation of a worker.")
      .def_property_readonly("done", &OperationHandle::done, "Whether wait() returns at once.")
      .def("wait", &OperationHandle::wait,
           "Waits for the operation. Returns the values of a pull, else None.");
  py::class_<WorkerState, SharedWorker> declared(module, "Worker",
                                                 "A thread's access to the tables of a server.");
  declare_local(declared);
  declare_elements(declared);
  declare_leases(module, declared);
  declare_intents(module, declared);
  declared
      .def("__repr__",
           [](const WorkerState& worker) {
             if (worker.worker == nullptr || worker.is_left)
               return std::string("<lapse.Worker that has ended>");
             return "<lapse.Worker " + std::to_string(worker.worker->index()) + " of " +
                    std::to_string(worker.worker->count()) + ">";
           })
      .def_property_readonly("index", of(&Worker::index),
                             "The number of the worker among all ranks' workers, from 0.")
      .def_property_readonly("count", of(&Worker::count), "The number of workers of all ranks.")
      .def_property_readonly("local_index", of(&Worker::local_index),
                             "The number of the worker among its rank's workers, from 0.")
      .def_property_readonly("local_count", of(&Worker::local_count), "The number of workers of its rank.")
      .def("pull", &pull, "table"_a, "keys"_a, "out"_a = py::none(),
           "Waits for the values of the keys, one row each, in out or in a new array, and returns them.")
      .def(
          "push",
          [](WorkerState& worker, const TableHandleOf& table, const py::object& keys,
             const py::object& updates,
             float scale) { begin_write(worker, Write::push, table, keys, updates, scale).wait(); },
          "table"_a, "keys"_a, "updates"_a, "scale"_a = 1.0F,
          "Applies a row of updates to each key by the table's rule, multiplied by scale, and waits.")
      .def(
          "set",
          [](WorkerState& worker, const TableHandleOf& table, const py::object& keys,
             const py::object& values) { begin_write(worker, Write::set, table, keys, values, 1.0F).wait(); },
          "table"_a, "keys"_a, "values"_a, "Replaces the values of the keys, and waits.")
      .def(
          "localize",
          [](WorkerState& worker, const TableHandleOf& table, const py::object& keys) {
            begin_localize(worker, table, keys).wait();
          },
          "table"_a, "keys"_a, "Moves the values of the keys to this rank, and waits.")
      .def(
          "pull_async",
          [handle](const SharedWorker& worker, const TableHandleOf& table, const py::object& keys,
                   const py::object& out) {
            return handle(worker, begin_pull(*worker, table, keys_of(keys), out));
          },
          "table"_a, "keys"_a, "out"_a = py::none(), "Like pull, without waiting: an Operation.")
      .def(
          "push_async",
          [handle](const SharedWorker& worker, const TableHandleOf& table, const py::object& keys,
                   const py::object& updates, float scale) {
            return handle(worker, begin_write(*worker, Write::push, table, keys, updates, scale));
          },
          "table"_a, "keys"_a, "updates"_a, "scale"_a = 1.0F, "Like push, without waiting: an Operation.")
      .def(
          "set_async",
          [handle](const SharedWorker& worker, const TableHandleOf& table, const py::object& keys,
                   const py::object& values) {
            return handle(worker, begin_write(*worker, Write::set, table, keys, values, 1.0F));
          },
          "table"_a, "keys"_a, "values"_a, "Like set, without waiting: an Operation.")
      .def(
          "localize_async",
          [handle](const SharedWorker& worker, const TableHandleOf& table, const py::object& keys) {
            return handle(worker, begin_localize(*worker, table, keys));
          },
          "table"_a, "keys"_a, "Like localize, without waiting: an Operation.")
      .def("pull_if_local", &pull_if_local, "table"_a, "key"_a,
           "Returns the key's value, or None if it is not in the memory of this rank. Sends nothing.")
      .def("wait_all", of(&Worker::wait_all), released, "Waits for all operations of this worker.")
      .def("wait_sync", of(&Worker::wait_sync), released,
           "Waits until the pushes of this worker are merged, and the replicas of its domain are refreshed.")
      .def("barrier", of(&Worker::barrier), released,
           "Collective over all workers. Waits until all have called it.")
      .def("sync_barrier", of(&Worker::sync_barrier), released,
           "Collective over all workers. Afterwards every value includes all earlier pushes of all workers.")
      .def("all_reduce", &all_reduce, "values"_a, "reduce"_a = "sum",
           "Collective over all workers. Combines their numbers by sum, min or max.\n\n"
           "Changes an array of float64 or int64 in place and returns it; returns a number for a number.")
      .def("broadcast", &broadcast, "values"_a, "root"_a = 0,
           "Collective over all workers. Copies the array of the worker with index root into all arrays.\n\n"
           "Changes the array in place and returns it. All must have the same type and size.");
}

}  // namespace lapse::python
