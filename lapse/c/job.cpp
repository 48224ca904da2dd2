// Jobs of the C interface.
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <span>

#include "lapse/c/handles.hpp"
#include "lapse/jobs/job_control.hpp"

struct lapse_job {
  lapse::c::CountedHandle counted;
  lapse::JobControl control;
};

namespace {

using lapse::c::given;
using lapse::c::guarded;

// Throws ConfigurationError if a clock cannot count that many.
std::chrono::seconds seconds_of(std::uint64_t seconds, const char* what) {
  constexpr std::uint64_t kMaxSeconds = 100ULL * 365 * 24 * 3600;
  if (seconds > kMaxSeconds) {
    throw lapse::ConfigurationError(std::string(what) + " of a lapse_job_options is " +
                                    std::to_string(seconds) + ": expected at most " +
                                    std::to_string(kMaxSeconds));
  }
  return std::chrono::seconds(seconds);
}

lapse::JobControlOptions options_of(const lapse_job_options* wanted) {
  lapse::JobControlOptions options;
  if (wanted == nullptr) return options;
  lapse::c::check_size(*wanted, "lapse_job_options");
  if (wanted->signal_count > 0) given(wanted->signals, "signals");
  const std::span signals(wanted->signals, wanted->signal_count);
  options.signals.assign(signals.begin(), signals.end());
  if (wanted->epochs > 0) options.checkpoint_interval.epochs = wanted->epochs;
  if (wanted->clocks > 0) options.checkpoint_interval.clocks = wanted->clocks;
  if (wanted->seconds > 0) options.checkpoint_interval.time = seconds_of(wanted->seconds, "seconds");
  if (wanted->deadline < 0)
    throw lapse::ConfigurationError("deadline of a lapse_job_options is below 0: expected a time since 1970");
  if (wanted->deadline > 0)
    options.deadline = std::chrono::system_clock::time_point(
        seconds_of(static_cast<std::uint64_t>(wanted->deadline), "deadline"));
  options.grace = seconds_of(wanted->grace, "grace");
  return options;
}

}  // namespace

void lapse_job_options_init(lapse_job_options* options) {
  if (options == nullptr) return;
  std::memset(options, 0, sizeof *options);
  options->size = sizeof *options;
  options->grace = static_cast<std::uint64_t>(lapse::JobControlOptions().grace.count());
}

lapse_status lapse_job_create(lapse_server* server, const lapse_job_options* options, lapse_job** job) {
  return guarded([&] {
    lapse_server& owner = given(server, "server");
    given(job, "job");
    *job = new lapse_job{lapse::c::CountedHandle(owner.handles.jobs), {owner.server(), options_of(options)}};
  });
}

void lapse_job_free(lapse_job* job) {
  delete job;
}

lapse_status lapse_job_stop_requested(const lapse_job* job, int* requested) {
  return guarded([&] { given(requested, "requested") = given(job, "job").control.stop_requested() ? 1 : 0; });
}

lapse_status lapse_job_checkpoint_due(const lapse_job* job, int* due) {
  return guarded([&] { given(due, "due") = given(job, "job").control.checkpoint_due() ? 1 : 0; });
}

lapse_status lapse_job_should_stop(lapse_job* job, int* stop) {
  return guarded([&] { given(stop, "stop") = given(job, "job").control.should_stop() ? 1 : 0; });
}

lapse_status lapse_job_stop_reason(const lapse_job* job, const char** reason) {
  return guarded([&] { given(reason, "reason") = given(job, "job").control.stop_reason().c_str(); });
}

lapse_status lapse_job_need_checkpoint(lapse_job* job, uint64_t epochs, uint64_t clocks, int* needed) {
  return guarded([&] {
    given(needed, "needed") =
        given(job, "job").control.need_checkpoint({.epochs = epochs, .clocks = clocks}) ? 1 : 0;
  });
}

lapse_status lapse_job_begin_interval(lapse_job* job, uint64_t epochs, uint64_t clocks) {
  return guarded([&] { given(job, "job").control.begin_interval({.epochs = epochs, .clocks = clocks}); });
}
