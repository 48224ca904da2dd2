// Servers and phases of the Python package.
#include <pybind11/stl.h>

#include <chrono>
#include <map>

#include "lapse/core/option_sources.hpp"
#include "lapse/core/statistics.hpp"
#include "lapse/core/version.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/python/attachment.hpp"
#include "lapse/python/refusals.hpp"
#include "lapse/transport/mpi/environment.hpp"
#include "lapse/transport/mpi/library/library_of_build.hpp"
#include "lapse/transport/mpi/library/shared_options_file.hpp"

namespace lapse::python {

namespace {

using namespace pybind11::literals;

// --- workers

// Runs the function as a worker. Called without the interpreter's lock.
template <class W>
void work(const SharedServer& server, const py::object& function, RaisedHere& raised, W& worker) {
  const py::gil_scoped_acquire locked;
  const WorkerScope scope(server, worker);
  try {
    function(scope.state());
  } catch (py::error_already_set& error) {
    if (server->process.is_left()) throw;
    const py::object exception = exception_of(error);
    raised.keep(exception);
    throw Error(text_of(exception));
  }
}

// The same on a thread of the server. A child forked in the function has no caller: it ends here.
template <class W>
void work_on_thread(const SharedServer& server, const py::object& function, RaisedHere& raised, W& worker) {
  const py::gil_scoped_acquire locked;
  py::object exception = py::none();
  try {
    work(server, function, raised, worker);
    if (!server->process.is_left()) return;
  } catch (py::error_already_set& error) {
    exception = exception_of(error);
  }
  py::module_::import("lapse.hooks").attr("end_child")(server->server().rank().value(), exception);
}

template <class F, class Run>
void run_phase(const SharedServer& server, RaisedHere& raised, const F& f, Run&& run) {
  raised.run([&] { server->manager ? run(*server->manager, f) : run(*server->own, f); });
}

// --- MPI calls

// Between enter and exit, no thread of a server of this process is inside MPI.
class MpiSection {
 public:
  explicit MpiSection(SharedServer server) : server_(std::move(server)) {}
  void enter() {
    if (calls_) throw UsageError("the calls of MPI have begun already");
    const py::gil_scoped_release released;
    calls_.emplace(server_->server().mpi_calls());
  }
  void exit(const py::object&, const py::object&, const py::object&) { calls_.reset(); }

 private:
  SharedServer server_;
  std::optional<MpiCalls> calls_;
};

// --- servers

SharedServer make_server(int communicator, const std::map<std::string, std::string>& options, bool managed) {
  require_usable_library();
  const MPI_Comm comm = MPI_Comm_f2c(communicator);
  std::vector<OptionSetting> settings;
  for (const auto& [name, value] : options) {
    std::string assignment = name;
    assignment += '=';
    assignment += value;
    settings.push_back(option_assignment(assignment, "the options of the call"));
  }
  auto state = std::make_shared<ServerState>();
  const py::gil_scoped_release released;
  const OptionSources sources(shared_options_file(comm).settings(), std::move(settings));
  if (managed) {
    state->manager = std::make_unique<adapm::ParameterManager>(comm, sources);
  } else {
    state->own = std::make_unique<ParameterServer>(comm, sources);
  }
  return state;
}

void close(ServerState& server) {
  if (server.closed || server.process.is_left()) return;
  const py::gil_scoped_release released;
  server.manager ? server.manager->close() : server.own->close();
  server.closed = true;
}

// For a table of the server, or for everything; in the order of lapse.MemoryUse.
py::tuple memory_use(const ServerState& server, const py::object& table) {
  if (table.is_none()) return memory_tuple(unlocked([&] { return server.server().memory_use(); }));
  if (!py::isinstance<TableHandleOf>(table))
    throw py::type_error("table is " + py::repr(table).cast<std::string>() +
                         ", expected a lapse.Table or None");
  const auto& of = table.cast<const TableHandleOf&>();
  return memory_tuple(unlocked(
      [&] { return of.visit([&](const auto& typed) { return server.server().memory_use(typed); }); }));
}

}  // namespace

PYBIND11_MODULE(_native, module) {
  module.attr("__version__") = library_version_text();
  declare_errors();
  declare_functions(module);
  declare_worker(module);
  declare_table(module);
  declare_checkpoints(module);
  declare_jobs(module);
  declare_hooks(module);
  module.def("prepare_mpi", [] { prepare_mpi_environment(); });
  py::class_<Attachment>(module, "Attachment")
      .def("__enter__", &Attachment::enter)
      .def("__exit__", &Attachment::exit);
  py::class_<MpiSection>(module, "MpiSection")
      .def("__enter__", &MpiSection::enter)
      .def("__exit__", &MpiSection::exit);
  py::class_<ServerState, SharedServer>(module, "Server")
      .def(py::init(&make_server), "communicator"_a, "options"_a, "managed"_a)
      .def("close", &close)
      .def_readonly("closed", &ServerState::closed)
      .def_property_readonly("is_left", [](const ServerState& server) { return server.process.is_left(); })
      .def_property_readonly("rank", [](const ServerState& server) { return server.server().rank().value(); })
      .def_property_readonly("ranks", [](const ServerState& server) { return server.server().ranks(); })
      .def(
          "statistics_json",
          [](ServerState& server) {
            return server.manager ? server.manager->statistics().to_json()
                                  : server.own->statistics().to_json();
          },
          py::call_guard<py::gil_scoped_release>())
      .def(
          "run_workers",
          [](const SharedServer& server, std::int32_t workers, const py::object& function) {
            RaisedHere raised;
            run_phase(
                server, raised, [&](auto& worker) { work_on_thread(server, function, raised, worker); },
                [&](auto& runner, const auto& f) { runner.run_workers(workers, f); });
          },
          "workers"_a, "function"_a)
      .def(
          "run_here",
          [](const SharedServer& server, const py::object& function) {
            RaisedHere raised;
            run_phase(
                server, raised, [&](auto& worker) { work(server, function, raised, worker); },
                [](auto& runner, const auto& f) { runner.run_here(f); });
          },
          "function"_a)
      .def(
          "start_progress",
          [](ServerState& server, std::int32_t workers) {
            server.raised.begin();
            const py::gil_scoped_release released;
            server.manager ? server.manager->start_progress(workers) : server.own->start_progress(workers);
          },
          "workers"_a)
      .def("stop_progress",
           [](ServerState& server) {
             Attachment::end_left(server);
             server.raised.run(
                 [&] { server.manager ? server.manager->stop_progress() : server.own->stop_progress(); });
           })
      .def(
          "attach",
          [](const SharedServer& server, std::optional<std::size_t> place) {
            return std::make_unique<Attachment>(server, place);
          },
          "place"_a)
      .def(
          "progress",
          [](ServerState& server, std::int64_t microseconds) {
            server.server().progress(std::chrono::microseconds(microseconds));
          },
          "microseconds"_a, py::call_guard<py::gil_scoped_release>())
      .def("mpi_calls", [](const SharedServer& server) { return std::make_unique<MpiSection>(server); })
      .def("memory_use", &memory_use, "table"_a)
      .def_property_readonly(
          "hosts", [](const ServerState& server) { return server.server().hosts(); },
          py::call_guard<py::gil_scoped_release>())
      .def(
          "request_stop", [](ServerState& server) { server.server().request_stop(); },
          py::call_guard<py::gil_scoped_release>())
      .def_property_readonly(
          "stop_requested", [](const ServerState& server) { return server.server().stop_requested(); },
          py::call_guard<py::gil_scoped_release>());
  explain_refusals(module);
}

}  // namespace lapse::python
