// What workers of the Python package do where a key is: functions, updates in place, leases.
#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "lapse/python/callbacks.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

template <class T>
using ElementOf = typename std::remove_cvref_t<T>::element;

// --- functions

std::string describe_type(ElementType type) {
  return py::str(py::object(dtype_of(type))).cast<std::string>();
}

PendingOperation begin_call(WorkerState& worker, const TableHandleOf& table, const FunctionHandle& function,
                            const py::object& keys, const py::object& arguments) {
  Worker& base = worker.base();
  const ElementType element =
      std::visit([](const auto& typed) { return element_type<ElementOf<decltype(typed)>>(); }, table.table);
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
    const py::module_ numpy = py::module_::import("numpy");
    given.emplace(HeldArray{numpy.attr("ascontiguousarray")(arguments, function.argument).cast<py::array>()});
    if (given->array.ndim() != 1 || given->array.shape(0) != rows)
      throw LengthMismatch(std::visit([](const auto& typed) { return typed.name(); }, table.table),
                           "arguments", static_cast<std::size_t>(given->array.size()), held.size(),
                           base.rank());
  }
  std::optional<HeldArray> results;
  if (!function.result.is_none())
    results.emplace(
        HeldArray{py::array(py::dtype::from_args(function.result), py::array::ShapeContainer{rows})});
  const std::byte* const from = given ? reinterpret_cast<const std::byte*>(given->data()) : nullptr;
  std::byte* const to = results ? reinterpret_cast<std::byte*>(results->data()) : nullptr;
  const std::span<const Key> span = key_span(held);
  Operation operation;
  std::visit(
      [&](const auto& typed) {
        const py::gil_scoped_release released;
        operation = base.call(typed.handle(), *function.function, function.identity, span, from, to);
      },
      table.table);
  return {std::move(operation), std::move(results)};
}

// --- only where the value is in memory

const char* locality(WorkerState& worker, const TableHandleOf& table, std::uint64_t key) {
  Worker& base = worker.base();
  const py::gil_scoped_release released;
  switch (std::visit([&](const auto& typed) { return base.locality(typed, Key(key)); }, table.table)) {
    case Locality::local:
      return "local";
    case Locality::not_local:
      break;
    case Locality::private_to_neighbour:
      return "private_to_neighbour";
  }
  return "not_local";
}

bool update_if_local(WorkerState& worker, const TableHandleOf& table, std::uint64_t key,
                     const py::object& function) {
  Worker& base = worker.base();
  const SharedObject shared(function);
  // What the function raises goes to the caller as it is.
  std::optional<py::error_already_set> raised;
  bool done = false;
  {
    const py::gil_scoped_release released;
    done = std::visit(
        [&](const auto& typed) {
          using T = ElementOf<decltype(typed)>;
          return base.update_if_local(typed, Key(key), [&](std::span<T> value) {
            const py::gil_scoped_acquire locked;
            const auto bytes = reinterpret_cast<std::byte*>(value.data());
            try {
              const py::array elements = copy_of(element_type<T>(), bytes, value.size());
              function(elements);
              copy_back(elements, bytes);
            } catch (py::error_already_set& error) {
              raised.emplace(std::move(error));
            }
          });
        },
        table.table);
  }
  if (raised) throw std::move(*raised);
  return done;
}

py::tuple local_values(WorkerState& worker, const TableHandleOf& table) {
  Worker& base = worker.base();
  return std::visit(
      [&](const auto& typed) {
        using T = ElementOf<decltype(typed)>;
        std::vector<std::uint64_t> keys;
        std::vector<T> values;
        {
          const py::gil_scoped_release released;
          base.for_each_local(typed, [&](Key key, std::span<const T> value) {
            keys.push_back(key.value());
            values.insert(values.end(), value.begin(), value.end());
          });
        }
        const auto rows = static_cast<py::ssize_t>(keys.size());
        return py::make_tuple(
            py::array_t<std::uint64_t>(rows, keys.data()),
            py::array_t<T>({rows, static_cast<py::ssize_t>(typed.length())}, values.data()));
      },
      table.table);
}

// --- leases

// Keys of one table: copies of their values, and of the states of the update rule, while the lease is held.
struct LeasedRows {
  py::object table;
  HeldArray keys;
  py::object values = py::none();
  py::object states = py::none();

  const TableHandleOf& handle() const { return table.cast<const TableHandleOf&>(); }
};

enum class Copy { from_memory, to_memory };

class LeaseHandle {
 public:
  LeaseHandle(SharedWorker worker, const py::args& parts) : worker_(std::move(worker)) {
    if (parts.size() == 2 && py::isinstance<TableHandleOf>(parts[0])) {
      add(parts[0], parts[1]);
      return;
    }
    for (const py::handle part : parts) {
      if (!py::isinstance<py::tuple>(part) || py::len(part) != 2)
        throw py::type_error(
            "a lease of another thing: expected a table and its keys, or several pairs of them");
      const auto pair = part.cast<py::tuple>();
      add(pair[0], pair[1]);
    }
  }
  LeaseHandle(const LeaseHandle&) = delete;
  LeaseHandle& operator=(const LeaseHandle&) = delete;
  ~LeaseHandle() {
    if (!lease_) return;
    if (worker_->is_foreign()) {
      worker_->orphaned_leases.push_back(std::move(*lease_));
      return;
    }
    const py::gil_scoped_release released;
    lease_.reset();
  }

  LeaseHandle& enter() {
    Worker& base = worker_->base();
    if (lease_) throw UsageError("this lease is held already");
    std::vector<LeaseKeys> keys;
    for (const LeasedRows& rows : rows_)
      std::visit([&](const auto& typed) { keys.emplace_back(typed, key_span(rows.keys)); },
                 rows.handle().table);
    {
      const py::gil_scoped_release released;
      lease_.emplace(base.lease(keys));
    }
    for (LeasedRows& rows : rows_) make_arrays(rows);
    for (const LeasedRows& rows : rows_) copy(rows, Copy::from_memory);
    return *this;
  }

  // With the exception that ends the block, or None: then the arrays are the values.
  void exit(const py::object& type, const py::object&, const py::object&) {
    if (type.is_none())
      for (const LeasedRows& rows : rows_) copy(rows, Copy::to_memory);
    const py::gil_scoped_release released;
    Lease ending = std::move(*lease_);
    lease_.reset();
    ending.release();
  }

  py::object values(const py::object& table) const { return rows_of(table).values; }
  py::object states(const py::object& table) const { return rows_of(table).states; }

  // As a push to each key, on the arrays.
  void apply(const py::object& table, const py::object& updates, float scale) {
    const LeasedRows& rows = rows_of(table);
    std::visit(
        [&](const auto& typed) {
          using T = ElementOf<decltype(typed)>;
          const HeldArray held = values_of<T>(updates, "updates", false);
          const std::span<const T> given = value_span<const T>(held);
          const std::size_t length = typed.length();
          if (given.size() != rows.keys.size() * length)
            throw LengthMismatch(typed.name(), "updates", given.size(), rows.keys.size() * length,
                                 worker_->base().rank());
          copy(rows, Copy::to_memory);
          {
            const py::gil_scoped_release released;
            const LeasedValues<T> leased = lease_->values(typed);
            for (std::size_t i = 0; i < leased.size(); ++i)
              leased.apply(i, given.subspan(i * length, length), scale);
          }
          copy(rows, Copy::from_memory);
        },
        rows.handle().table);
  }

 private:
  void add(const py::object& table, const py::object& keys) {
    if (!py::isinstance<TableHandleOf>(table)) throw py::type_error("a lease of another thing than a table");
    HeldArray held = keys_of(keys);
    const std::span<const Key> span = key_span(held);
    std::vector<Key> sorted(span.begin(), span.end());
    std::ranges::sort(sorted);
    const auto twice = std::ranges::adjacent_find(sorted);
    if (twice != sorted.end())
      throw UsageError("key " + std::to_string(twice->value()) +
                       " stands in a lease twice: expected it once");
    rows_.push_back({table, std::move(held)});
  }

  const LeasedRows& rows_of(const py::object& table) const {
    if (!lease_) throw UsageError("this lease is not held: expected its with block");
    for (const LeasedRows& rows : rows_)
      if (rows.table.is(table)) return rows;
    throw UsageError("a table that this lease has no keys of");
  }

  void make_arrays(LeasedRows& rows) const {
    std::visit(
        [&](const auto& typed) {
          using T = ElementOf<decltype(typed)>;
          const LeasedValues<T> leased = lease_->values(typed);
          const auto count = static_cast<py::ssize_t>(leased.size());
          const std::size_t state = leased.size() == 0 ? 0 : leased.state(0).size();
          rows.values = py::array_t<T>({count, static_cast<py::ssize_t>(typed.length())});
          rows.states = py::array_t<T>({count, static_cast<py::ssize_t>(state)});
        },
        rows.handle().table);
  }

  // Between the arrays and the memory that is leased.
  void copy(const LeasedRows& rows, Copy direction) const {
    std::visit(
        [&](const auto& typed) {
          using T = ElementOf<decltype(typed)>;
          const LeasedValues<T> leased = lease_->values(typed);
          const HeldArray values{rows.values.cast<py::array>()};
          const HeldArray states{rows.states.cast<py::array>()};
          const auto move = [&](const HeldArray& array, std::size_t i, std::span<T> slot) {
            char* const row = array.data() + i * slot.size_bytes();
            direction == Copy::from_memory ? std::memcpy(row, slot.data(), slot.size_bytes())
                                           : std::memcpy(slot.data(), row, slot.size_bytes());
          };
          for (std::size_t i = 0; i < leased.size(); ++i) {
            move(values, i, leased[i]);
            move(states, i, leased.state(i));
          }
        },
        rows.handle().table);
  }

  SharedWorker worker_;
  std::vector<LeasedRows> rows_;
  std::optional<Lease> lease_;  // while it is held
};

}  // namespace

void declare_local(py::module_& module, py::class_<WorkerState, SharedWorker>& worker) {
  using namespace py::literals;
  py::class_<LeaseHandle>(module, "Lease", "Keys that a worker has for itself, in a with block.")
      .def("__enter__", &LeaseHandle::enter, py::return_value_policy::reference)
      .def("__exit__", &LeaseHandle::exit)
      .def("values", &LeaseHandle::values, "table"_a)
      .def("states", &LeaseHandle::states, "table"_a)
      .def("apply", &LeaseHandle::apply, "table"_a, "updates"_a, "scale"_a = 1.0F);
  worker
      .def("lease", [](const SharedWorker& self,
                       const py::args& parts) { return std::make_unique<LeaseHandle>(self, parts); })
      .def(
          "call",
          [](WorkerState& self, const TableHandleOf& table, const FunctionHandle& function,
             const py::object& keys, const py::object& arguments) -> py::object {
            PendingOperation pending = begin_call(self, table, function, keys, arguments);
            {
              const py::gil_scoped_release released;
              pending.operation.wait();
            }
            return pending.values ? py::object(pending.values->array) : py::none();
          },
          "table"_a, "function"_a, "keys"_a, "arguments"_a = py::none())
      .def(
          "call_async",
          [](const SharedWorker& self, const TableHandleOf& table, const FunctionHandle& function,
             const py::object& keys, const py::object& arguments) {
            return std::make_unique<OperationHandle>(self,
                                                     begin_call(*self, table, function, keys, arguments));
          },
          "table"_a, "function"_a, "keys"_a, "arguments"_a = py::none())
      .def("locality", &locality, "table"_a, "key"_a)
      .def("update_if_local", &update_if_local, "table"_a, "key"_a, "function"_a)
      .def("local_values", &local_values, "table"_a);
}

}  // namespace lapse::python
