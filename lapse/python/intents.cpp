// Intents and samples of the Python package: by a worker, or by another thread on its behalf.
#include <string>
#include <utility>

#include "adapm/intent_handle.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

Clock clock_of(std::int64_t clock) {
  return Clock(static_cast<Clock::representation>(clock));
}

adapm::IntentType intent_type_of(const std::string& name) {
  if (name == "read_write") return adapm::IntentType::read_write;
  if (name == "read_only") return adapm::IntentType::read_only;
  throw ConfigurationError("an intent of the type '" + name + "': expected read_write or read_only");
}

void signal(const adapm::IntentHandle& intents, const TableHandleOf& table, const py::object& keys,
            std::int64_t start, std::int64_t end, const std::string& type) {
  const Clock from = clock_of(start);
  const Clock to = clock_of(end);
  const adapm::IntentType kind = intent_type_of(type);
  const py::object range_type = py::module_::import("builtins").attr("range");
  if (py::isinstance(keys, range_type)) {
    if (keys.attr("step").cast<std::int64_t>() != 1)
      throw py::value_error("a range of keys with a step: expected one without");
    if (py::object(keys.attr("start")) < py::int_(0))
      throw UsageError("an intent of " + py::repr(keys).cast<std::string>() + ": expected keys from 0 on");
    const py::object first = keys.attr("start");
    // An empty Python range may end below its start.
    const py::object past = py::bool_(keys) ? py::object(keys.attr("stop")) : first;
    const adapm::KeyRange range{.first = key_of(first), .end = key_of(past)};
    const py::gil_scoped_release released;
    table.visit([&](const auto& typed) { intents.intent(typed, range, from, to, kind); });
    return;
  }
  const HeldArray held = keys_of(keys);
  const std::span<const Key> span = key_span(held);
  const py::gil_scoped_release released;
  table.visit([&](const auto& typed) { intents.intent(typed, span, from, to, kind); });
}

std::unique_ptr<PreparedHandle> prepare(const adapm::IntentHandle& intents, const SharedWorker& worker,
                                        const SamplerHandle& sampler, std::size_t keys, std::int64_t start,
                                        std::int64_t end) {
  const Clock from = clock_of(start);
  const Clock to = clock_of(end);
  return std::visit(
      [&](const auto& typed) {
        return std::make_unique<PreparedHandle>(
            worker, unlocked([&] { return intents.prepare_sample(typed, keys, from, to); }));
      },
      sampler.sampler);
}

// Returns the next keys of the sample, with their values if requested.
py::object next_of_sample(WorkerState& worker, PreparedHandle& prepared, std::size_t count, bool values) {
  adapm::IntentWorker& caller = worker.adaptive();
  py::array_t<std::uint64_t> keys(static_cast<py::ssize_t>(count));
  const std::span<Key> to(reinterpret_cast<Key*>(keys.mutable_data()), count);
  return std::visit(
      [&](auto& typed) -> py::object {
        using T = ElementOf<decltype(typed.table())>;
        if (!values) {
          unlocked([&] { caller.take_keys(typed, to); });
          return keys;
        }
        py::array_t<T> drawn(
            {static_cast<py::ssize_t>(count), static_cast<py::ssize_t>(typed.table().length())});
        const std::span<T> rows(drawn.mutable_data(), static_cast<std::size_t>(drawn.size()));
        unlocked([&] { caller.pull_sample(typed, to, rows).wait(); });
        return py::make_tuple(keys, drawn);
      },
      prepared.sample);
}

// Used by any thread, also after the worker has ended.
struct LoaderHandle {
  SharedWorker worker;
  adapm::IntentHandle intents;
};

}  // namespace

void declare_intents(py::module_& module, py::class_<WorkerState, SharedWorker>& worker) {
  using namespace py::literals;
  const py::class_<PreparedHandle> prepared(module, "Sample", "Keys that were prepared for a worker.");
  py::class_<LoaderHandle>(module, "Loader", "Announces what a worker will access, from any thread.")
      .def(
          "intent",
          [](const LoaderHandle& loader, const TableHandleOf& table, const py::object& keys,
             std::int64_t start, std::int64_t end,
             const std::string& type) { signal(loader.intents, table, keys, start, end, type); },
          "table"_a, "keys"_a, "start"_a, "end"_a, "type"_a = "read_write", "Like Worker.intent.")
      .def(
          "prepare_sample",
          [](const LoaderHandle& loader, const SamplerHandle& sampler, std::size_t keys, std::int64_t start,
             std::int64_t end) { return prepare(loader.intents, loader.worker, sampler, keys, start, end); },
          "sampler"_a, "keys"_a, "start"_a, "end"_a, "Like Worker.prepare_sample. The worker takes the keys.")
      .def_property_readonly(
          "clock", [](const LoaderHandle& loader) { return loader.intents.current_clock().value(); },
          "The worker's clock.");
  worker
      .def(
          "intent",
          [](WorkerState& self, const TableHandleOf& table, const py::object& keys, std::int64_t start,
             std::int64_t end,
             const std::string& type) { signal(self.adaptive(), table, keys, start, end, type); },
          "table"_a, "keys"_a, "start"_a, "end"_a, "type"_a = "read_write",
          "The keys, or a range of them, will be accessed while the clock is at least start and below end.")
      .def(
          "loader",
          [](const SharedWorker& self) {
            return std::make_unique<LoaderHandle>(LoaderHandle{self, self->adaptive().loader()});
          },
          "A Loader, through which another thread announces what this worker will access.")
      .def(
          "advance_clock",
          [](WorkerState& self) {
            Worker& base = self.base();
            self.managed != nullptr ? self.managed->advance_clock() : base.advance_clock();
          },
          py::call_guard<py::gil_scoped_release>(), "Advances the clock. Intents for earlier clocks end.")
      .def_property_readonly(
          "clock", [](const WorkerState& self) { return self.base().current_clock().value(); },
          "How often the worker has advanced its clock.")
      .def(
          "prepare_sample",
          [](const SharedWorker& self, const SamplerHandle& sampler, std::size_t keys, std::int64_t start,
             std::int64_t end) { return prepare(self->adaptive(), self, sampler, keys, start, end); },
          "sampler"_a, "keys"_a, "start"_a, "end"_a,
          "Prepares a Sample of this many keys, to take while the clock is at least start and below end.")
      .def(
          "pull_sample",
          [](WorkerState& self, PreparedHandle& sample, std::size_t count) {
            return next_of_sample(self, sample, count, true);
          },
          "sample"_a, "count"_a, "Returns the next keys of a sample, and their values.")
      .def(
          "take_keys",
          [](WorkerState& self, PreparedHandle& sample, std::size_t count) {
            return next_of_sample(self, sample, count, false);
          },
          "sample"_a, "count"_a, "Returns the next keys of a sample, without their values.");
}

}  // namespace lapse::python
