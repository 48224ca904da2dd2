// Checkpoints of the Python package.
#include "lapse/jobs/checkpoints.hpp"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

using namespace pybind11::literals;

struct CheckpointsHandle {
  SharedServer server;
  std::unique_ptr<Checkpoints> checkpoints;

  CheckpointsHandle(SharedServer owner, CheckpointSettings settings)
      : server(std::move(owner)),
        checkpoints(std::make_unique<Checkpoints>(server->server(), std::move(settings))) {}
  CheckpointsHandle(const CheckpointsHandle&) = delete;
  CheckpointsHandle& operator=(const CheckpointsHandle&) = delete;
  ~CheckpointsHandle() {
    const py::gil_scoped_release released;
    checkpoints.reset();
  }
};

std::unique_ptr<CheckpointsHandle> make_checkpoints(const SharedServer& server, const std::string& folder,
                                                    const std::string& local_folder,
                                                    std::optional<std::size_t> keep) {
  return std::make_unique<CheckpointsHandle>(server, CheckpointSettings{folder, local_folder, keep});
}

CheckpointContent content_of(const std::string& blob, const std::vector<std::string>& per_worker,
                             const std::vector<std::int64_t>& clocks) {
  CheckpointContent content{.global = blob, .per_worker = per_worker};
  for (const std::int64_t clock : clocks)
    content.clocks.push_back(Clock(static_cast<Clock::representation>(clock)));
  return content;
}

// The fields of lapse.TableLoad.
using PartToLoad = std::tuple<std::string, std::uint64_t, std::optional<std::uint64_t>, bool, bool>;

py::object load(const CheckpointsHandle& handle, std::optional<std::uint64_t> step, const py::object& folder,
                const std::vector<PartToLoad>& tables, bool is_fallback, bool grow) {
  LoadRequest request{.step = step, .folder = py::str(folder), .grow = grow, .is_fallback = is_fallback};
  for (const auto& [table, first, last, state, convert] : tables)
    request.tables.push_back({.table = table,
                              .first_key = first,
                              .last_key = last.value_or(UINT64_MAX),
                              .state = state,
                              .convert = convert});
  const LoadedCheckpoint loaded = unlocked([&] { return handle.checkpoints->load(request); });
  py::list per_worker;
  for (const std::string& bytes : loaded.per_worker) per_worker.append(py::bytes(bytes));
  py::list clocks;
  for (const Clock clock : loaded.clocks) clocks.append(clock.value());
  const py::object type = py::module_::import("lapse.results").attr("LoadedCheckpoint");
  return type(loaded.step, py::bytes(loaded.global), "ranks"_a = loaded.ranks, "per_worker"_a = per_worker,
              "clocks"_a = clocks, "problems"_a = loaded.problems, "only_local"_a = loaded.only_local,
              "bytes_read"_a = loaded.bytes_read);
}

}  // namespace

void declare_checkpoints(py::module_& module) {
  const std::vector<std::string> no_bytes;
  const std::vector<std::int64_t> no_clocks;
  // Calls this member of the checkpoints.
  const auto of = [](auto member) {
    return [member](const CheckpointsHandle& handle) { return ((*handle.checkpoints).*member)(); };
  };
  const auto saving = [](void (Checkpoints::*save)(std::uint64_t, const CheckpointContent&)) {
    return [save](const CheckpointsHandle& handle, std::uint64_t step, const std::string& blob,
                  const std::vector<std::string>& per_worker, const std::vector<std::int64_t>& clocks) {
      ((*handle.checkpoints).*save)(step, content_of(blob, per_worker, clocks));
    };
  };
  const py::call_guard<py::gil_scoped_release> released;
  module.def("make_checkpoints", &make_checkpoints, "server"_a, "folder"_a, "local_folder"_a, "keep"_a);
  py::class_<CheckpointsHandle>(module, "Checkpoints", "Checkpoints of the tables of a server, in a folder.")
      .def(
          "add",
          [](const CheckpointsHandle& handle, const TableHandleOf& table,
             const std::optional<std::string>& name) {
            table.visit(
                [&](const auto& typed) { handle.checkpoints->add(typed, name ? *name : typed.name()); });
          },
          "table"_a, "name"_a = py::none(), "Adds a table to save and load.")
      .def(
          "save", saving(&Checkpoints::save), "step"_a, "blob"_a = "", "per_worker"_a = no_bytes,
          "clocks"_a = no_clocks, released,
          "Collective. blob: bytes of rank 0; per_worker, clocks: one for each worker of this rank, or none.")
      .def("save_async", saving(&Checkpoints::save_async), "step"_a, "blob"_a = "", "per_worker"_a = no_bytes,
           "clocks"_a = no_clocks, released,
           "Collective. Returns once the values are copied; the checkpoint exists after finish().")
      .def("finish", of(&Checkpoints::finish), released, "Collective. Waits for the last save_async.")
      .def_property_readonly("done", of(&Checkpoints::done), released, "Whether finish() returns at once.")
      .def_property_readonly("staged", of(&Checkpoints::staged), released,
                             "Whether the local folder has the part of this rank.")
      .def("release_memory", of(&Checkpoints::release_memory), released, "Frees the memory of the last copy.")
      .def(
          "load", &load, "step"_a = py::none(), "folder"_a = "", "tables"_a = std::vector<PartToLoad>(),
          "is_fallback"_a = false, "grow"_a = false,
          "Collective. Loads the newest, or a step: a lapse.LoadedCheckpoint. tables: lapse.TableLoad "
          "objects.\n\n"
          "is_fallback, with a step: newer checkpoints could not be loaded. Otherwise they are an abandoned\n"
          "branch. grow: tables may have more keys than were saved; those behind the saved ones stay as they "
          "are.");
}

}  // namespace lapse::python
