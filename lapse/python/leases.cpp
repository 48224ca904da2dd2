// Leases of the Python package.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "lapse/ps/lease.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

// Keys of one table, and copies of their values and states while the lease is held: rows, or consecutive
// elements if each key has its own length.
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
      rows.handle().visit([&](const auto& typed) { keys.emplace_back(typed, key_span(rows.keys)); });
    lease_ = unlocked([&] { return base.lease(keys); });
    for (LeasedRows& rows : rows_) make_arrays(rows);
    for (const LeasedRows& rows : rows_) copy(rows, Copy::from_memory);
    return *this;
  }

  // Takes the exception that ends the block, or None: then the arrays are stored as the values.
  void exit(const py::object& type, const py::object&, const py::object&) {
    if (!lease_) throw UsageError("the lease is not held: use it in a with block");
    if (type.is_none() && !worker_->server->process.is_left())
      for (const LeasedRows& rows : rows_) copy(rows, Copy::to_memory);
    const py::gil_scoped_release released;
    Lease ending = std::move(*lease_);
    lease_.reset();
    ending.release();
  }

  py::object values(const py::object& table) const { return rows_of(table).values; }
  py::object states(const py::object& table) const { return rows_of(table).states; }

  // Like a push to each key, on the arrays.
  void apply(const py::object& table, const py::object& updates, float scale) {
    const LeasedRows& rows = rows_of(table);
    rows.handle().visit([&](const auto& typed) {
      using T = ElementOf<decltype(typed)>;
      const HeldArray held = values_of<T>(updates, "updates", false);
      const std::span<const T> given = value_span<const T>(held);
      const std::size_t expected = static_cast<std::size_t>(rows.values.cast<py::array>().size());
      if (given.size() != expected)
        throw LengthMismatch(typed.name(), "updates", given.size(), expected, worker_->base().rank());
      copy(rows, Copy::to_memory);
      {
        const py::gil_scoped_release released;
        const LeasedValues<T> leased = lease_->values(typed);
        std::size_t at = 0;
        for (std::size_t i = 0; i < leased.size(); ++i) {
          leased.apply(i, given.subspan(at, leased[i].size()), scale);
          at += leased[i].size();
        }
      }
      copy(rows, Copy::from_memory);
    });
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
    rows.handle().visit([&](const auto& typed) {
      using T = ElementOf<decltype(typed)>;
      const LeasedValues<T> leased = lease_->values(typed);
      const auto count = static_cast<py::ssize_t>(leased.size());
      py::ssize_t elements = 0;
      py::ssize_t states = 0;
      for (std::size_t i = 0; i < leased.size(); ++i) {
        elements += static_cast<py::ssize_t>(leased[i].size());
        states += static_cast<py::ssize_t>(leased.state(i).size());
      }
      const auto array = [&](py::ssize_t size, py::ssize_t row) {
        return typed.length() == 0 ? py::array_t<T>(size) : py::array_t<T>({count, row});
      };
      rows.values = array(elements, static_cast<py::ssize_t>(typed.length()));
      rows.states = array(states, count == 0 ? 0 : states / count);
    });
  }

  // Copies between the arrays and the leased memory.
  void copy(const LeasedRows& rows, Copy direction) const {
    rows.handle().visit([&](const auto& typed) {
      using T = ElementOf<decltype(typed)>;
      const LeasedValues<T> leased = lease_->values(typed);
      const HeldArray values{rows.values.cast<py::array>()};
      const HeldArray states{rows.states.cast<py::array>()};
      char* value = values.data();
      char* state = states.data();
      const auto move = [&](char*& at, std::span<T> slot) {
        direction == Copy::from_memory ? std::memcpy(at, slot.data(), slot.size_bytes())
                                       : std::memcpy(slot.data(), at, slot.size_bytes());
        at += slot.size_bytes();
      };
      for (std::size_t i = 0; i < leased.size(); ++i) {
        move(value, leased[i]);
        move(state, leased.state(i));
      }
    });
  }

  SharedWorker worker_;
  std::vector<LeasedRows> rows_;
  std::optional<Lease> lease_;  // while it is held
};

}  // namespace

void declare_leases(py::module_& module, py::class_<WorkerState, SharedWorker>& worker) {
  using namespace py::literals;
  py::class_<LeaseHandle>(module, "Lease", "Exclusive access of a worker to keys, in a with block.")
      .def("__enter__", &LeaseHandle::enter, py::return_value_policy::reference)
      .def("__exit__", &LeaseHandle::exit)
      .def("values", &LeaseHandle::values, "table"_a,
           "The array with the values of the keys of this table. The end of the block stores its content.")
      .def("states", &LeaseHandle::states, "table"_a, "The same for the state of the update rule.")
      .def("apply", &LeaseHandle::apply, "table"_a, "updates"_a, "scale"_a = 1.0F,
           "Like a push of these updates to the keys of this table, on the arrays.");
  worker.def(
      "lease",
      [](const SharedWorker& self, const py::args& parts) {
        return std::make_unique<LeaseHandle>(self, parts);
      },
      "For a with block: a Lease of keys of a table, lease(table, keys), or of several such pairs.");
}

}  // namespace lapse::python
