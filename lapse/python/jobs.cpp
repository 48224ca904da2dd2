// When a job of the Python package saves a checkpoint, and when it ends.
#include <pybind11/stl.h>

#include <chrono>
#include <string>
#include <vector>

#include "lapse/jobs/job_control.hpp"
#include "lapse/python/handles.hpp"

namespace lapse::python {

namespace {

using namespace pybind11::literals;

struct JobHandle {
  SharedServer server;              // outlives the job
  std::unique_ptr<JobControl> job;  // null: it has ended

  JobControl& control() const {
    if (!job) throw UsageError("this JobControl has ended: expected a call in its with block");
    return *job;
  }
};

// seconds: the interval of checkpoints; deadline: seconds since 1970; both, and grace, are below 2^32.
std::unique_ptr<JobHandle> make_job(const SharedServer& server, const std::vector<int>& signals,
                                    std::optional<std::uint64_t> epochs, std::optional<std::uint64_t> clocks,
                                    std::optional<std::int64_t> seconds, std::optional<double> deadline,
                                    std::int64_t grace) {
  using std::chrono::system_clock;
  JobControlOptions options;
  options.signals = signals;
  options.checkpoint_interval = {.epochs = epochs, .clocks = clocks};
  if (seconds) options.checkpoint_interval.time = std::chrono::seconds(*seconds);
  if (deadline) {
    const std::chrono::duration<double> since_1970(*deadline);
    options.deadline =
        system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(since_1970));
  }
  options.grace = std::chrono::seconds(grace);
  const py::gil_scoped_release released;
  return std::make_unique<JobHandle>(
      JobHandle{server, std::make_unique<JobControl>(server->server(), options)});
}

}  // namespace

void declare_jobs(py::module_& module) {
  const py::call_guard<py::gil_scoped_release> released;
  module.def("make_job", &make_job);
  py::class_<JobHandle>(module, "Job")
      .def_property_readonly(
          "stop_requested", [](const JobHandle& self) { return self.control().stop_requested(); }, released)
      .def_property_readonly(
          "checkpoint_due", [](const JobHandle& self) { return self.control().checkpoint_due(); }, released)
      .def_property_readonly("stop_reason",
                             [](const JobHandle& self) { return std::string(self.control().stop_reason()); })
      .def("end", [](JobHandle& self) { self.job.reset(); })
      .def(
          "should_stop", [](const JobHandle& self) { return self.control().should_stop(); }, released)
      .def(
          "need_checkpoint",
          [](const JobHandle& self, std::uint64_t epochs, std::uint64_t clocks) {
            return self.control().need_checkpoint({.epochs = epochs, .clocks = clocks});
          },
          released)
      .def(
          "begin_interval",
          [](const JobHandle& self, std::uint64_t epochs, std::uint64_t clocks) {
            self.control().begin_interval({.epochs = epochs, .clocks = clocks});
          },
          released);
}

}  // namespace lapse::python
