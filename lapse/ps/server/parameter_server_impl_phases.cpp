// The phases of a server: with threads of its own, on the calling thread, or with threads of the application.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/exception_text.hpp"
#include "lapse/core/process/child_error.hpp"
#include "lapse/core/process/library_thread.hpp"
#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/ps/attached_worker.hpp"
#include "lapse/ps/mpi_calls.hpp"
#include "lapse/ps/phase/crowding.hpp"
#include "lapse/ps/phase/rest.hpp"
#include "lapse/ps/phase/slot_groups.hpp"
#include "lapse/ps/server/parameter_server_impl.hpp"

namespace lapse {

void ParameterServer::Impl::check_call(const char* call) const {
  throw_if_closed(call);
  check_may_call_mpi(call);
  throw_if_running(call);
}

void ParameterServer::Impl::check_collective(const char* call) const {
  check_call(call);
  protocol_.failure().check();
}

void ParameterServer::Impl::check_may_call_mpi(const char* call) const {
  if (threads_ == ThreadSupport::serialized || std::this_thread::get_id() == owner_) return;
  throw UsageError(fmt::format(
      "{} on rank {} by another thread than the one that made the server: with this thread level of "
      "MPI only that one may call MPI",
      call, rank().value()));
}

Phase ParameterServer::Impl::agree_on_phase(const PhaseCall& call, std::int32_t workers) {
  // One name for all three calls: each rank may begin the phase by any of them.
  const auto loads = agreement_.exchange("run_workers, run_here or start_progress", [&] {
    if (threads_ < call.needed) {
      throw MpiStateError(
          "MPI was initialised with the thread level MPI_THREAD_SINGLE (MPI_Init asks for it), with which "
          "only run_here can be called: MPI_THREAD_FUNNELED at least is needed for worker threads, "
          "MPI_THREAD_SERIALIZED for progress by several threads, MPI_THREAD_MULTIPLE where the application "
          "calls MPI while workers run without mpi_calls(). Ask for it with MPI_Init_thread(&argc, &argv, "
          "MPI_THREAD_SERIALIZED, &provided); or, for a program that calls MPI_Init, put "
          "OMPI_MPI_THREAD_LEVEL into the environment of all ranks with Open MPI (1 is FUNNELED, "
          "2 SERIALIZED, 3 MULTIPLE), MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_SERIALIZED with MPICH");
    }
    if (workers < 0 || workers > kMaxWorkers) {
      throw UsageError(fmt::format("{} with {} workers on rank {}: expected 0 to {}", call.name, workers,
                                   rank().value(), kMaxWorkers));
    }
    return RankLoad{.workers = static_cast<std::size_t>(workers),
                    .binding = topology_.binding,
                    .joins = call.groups == Levels::Groups::joining};
  });
  engine_.set_crowded(
      is_crowded(loads, transport_->hosts(), rank().index(), topology_.usable_hardware_threads));

  Phase phase{.server = this,
              .protocol = protocol_,
              .engine = engine_,
              .group = all_workers_,
              .logger = logger_,
              .options = options_,
              .rank = rank(),
              .ranks = ranks(),
              .local_workers = static_cast<std::size_t>(workers),
              .stalls = &stalls_,
              .observer = observer_};
  std::vector<Rank> participants;
  for (std::int32_t other = 0; other < ranks(); ++other) {
    const std::size_t count = loads[static_cast<std::size_t>(other)].workers;
    if (count > 0) participants.emplace_back(other);
    if (other < rank().value()) phase.first_worker += count;
    phase.workers += count;
  }
  if (phase.workers == 0)
    agreement_.fail_everywhere(
        UsageError(fmt::format("{} without a worker on any rank: at least one is needed", call.name)));

  if (rank().value() == 0 && !warned_of_sharing_) {
    if (const auto warning = core_sharing_warning(topology_, phase.local_workers, call.progress_threads))
      logger_.warning("{}", *warning);
    warned_of_sharing_ = call.progress_threads > 0;
  }
  protocol_.registry().prepare_workers(phase.local_workers, phase.first_worker);
  runner_.prepare(phase.local_workers);
  protocol_.groups().clear();
  const bool replicas_are_shared = !domains_.each_rank_alone() && domains_.domains() > 1;
  sync_barrier_cut_.start(std::ssize(participants) == ranks(), replicas_are_shared);
  all_workers_.start(phase.local_workers, std::move(participants), &sync_barrier_cut_);
  protocol_.termination().start();
  engine_.exclusively([&]() LAPSE_REQUIRES(progress_role) {
    protocol_.levels().start(call.groups, groups_, std::ranges::any_of(loads, &RankLoad::joins));
    protocol_.budgets().start();
  });
  phase.levels = &protocol_.levels().all();
  if (allocation_trace_ != nullptr) allocation_trace_->begin_phase(call.name);
  return phase;
}

void ParameterServer::Impl::end_child(const std::exception_ptr& failure) const noexcept {
  log_error_of_child(rank(),
                     "a child that fork has made in the function of a worker ends: " + text_of(failure));
  _exit(EXIT_FAILURE);
}

// --- the end

void ParameterServer::Impl::insist(const char* what, const std::function<void()>& step) noexcept {
  std::exception_ptr failure;
  try {
    return step();
  } catch (...) {
    failure = std::current_exception();
  }
  try {
    engine_.exclusively([&]() LAPSE_REQUIRES(progress_role) { protocol_.handle_failure(failure); });
    step();
  } catch (...) {
    transport_->abort(
        fmt::format("rank {}: {} failed: {}", rank().value(), what, text_of(std::current_exception())));
  }
}

void ParameterServer::Impl::leave_phase() {
  insist("the end of a phase", [this] { end_phase(); });
  attached_phase_.reset();
  threads_of_slots_.wait();
  engine_.set_sole_driver({});
  running_ = false;
  if (allocation_trace_ != nullptr) allocation_trace_->end_phase();
  protocol_.failure().check();
}

void ParameterServer::Impl::end_phase() {
  const TimedRegion region("lapse end of phase");
  phase_end_watch_.begin();
  quiesce(protocol_, engine_, *transport_, [this] { phase_end_watch_.poll(); });
}

// --- threads of the server

void ParameterServer::Impl::run_workers(std::int32_t workers, const std::function<void(Worker&)>& f) {
  check_collective("run_workers");
  const TimedRegion region("lapse run_workers");
  const Phase phase = agree_on_phase({.name = "run_workers"}, workers);
  run_slots(
      phase.local_workers, [] {},
      [&](std::size_t slot, GroupFailureReport& report) {
        runner_.run({phase, *protocol_.registry().workers()[slot]}, f, report);
      });
}

std::vector<GroupEnd> ParameterServer::Impl::run_groups(std::span<const GroupPart> groups) {
  check_collective("run_groups");
  const TimedRegion region("lapse run_groups");
  if (groups.size() == 1 && groups[0].control != nullptr) {
    run_controlled(groups[0].workers, *groups[0].control);
    return {};
  }
  const std::vector<WorkersOfGroups> workers = agree_on_groups(agreement_, groups, rank());
  const auto own = workers[rank().index()];
  const Phase all = agree_on_phase({.name = "run_groups", .groups = Levels::Groups::together},
                                   std::accumulate(own.begin(), own.end(), 0));
  const GroupNumber first = groups_ + 1;
  groups_ += groups.size();
  std::optional<GroupSeats> seats;
  run_slots(
      all.local_workers, [&] { seats.emplace(all, groups, workers, first); },
      [&](std::size_t slot, GroupFailureReport& report) { seats->run(runner_, slot, report); });
  return seats->ends();
}

void ParameterServer::Impl::run_slots(
    std::size_t slots, const std::function<void()>& prepare,
    const std::function<void(std::size_t slot, GroupFailureReport& report)>& work) {
  std::vector<GroupFailureReport> reports;
  std::atomic<std::size_t> working{slots};
  const SlotThreads::Job job = [&](std::size_t slot) {
    try {
      work(slot, reports[slot]);
    } catch (...) {
      end_child(std::current_exception());
    }
    working.fetch_sub(1, std::memory_order_release);
    engine_.notify();
  };
  begin_running();
  try {
    prepare();
    reports = std::vector<GroupFailureReport>(slots);
    threads_of_slots_.prepare(slots);
    for (std::size_t slot = 0; slot < slots; ++slot) threads_of_slots_.start(slot, job);
  } catch (...) {
    // The threads could not be started. This rank has no workers, and every rank is notified of the reason.
    working.store(0, std::memory_order_relaxed);
    engine_.exclusively(
        [this]() LAPSE_REQUIRES(progress_role) { protocol_.handle_failure(std::current_exception()); });
  }
  insist("the wait for the workers of a phase",
         [&] { engine_.serve([&] { return working.load(std::memory_order_acquire) == 0; }); });
  leave_phase();
}

void ParameterServer::Impl::run_controlled(std::int32_t slots, SlotControl& control) {
  const Phase all = agree_on_phase({.name = "run of stages", .groups = Levels::Groups::in_slots}, slots);
  SlotGroups groups(all, threads_ == ThreadSupport::serialized, runner_, threads_of_slots_, control, groups_,
                    [this](const std::exception_ptr& failure) { end_child(failure); });
  begin_running();
  groups.begin();
  insist("the wait for the end of a phase with slots", [&] {
    engine_.serve([&] { return groups.is_idle() && (groups.has_ended() || protocol_.failure().raised()); });
  });
  leave_phase();
  groups_ = groups.last();
}

// --- the calling thread

void ParameterServer::Impl::run_here(const std::function<void(Worker&)>& f) {
  check_collective("run_here");
  const TimedRegion region("lapse run_here");
  const Phase phase =
      agree_on_phase({.name = "run_here", .needed = ThreadSupport::single, .progress_threads = 0}, 1);
  engine_.set_sole_driver(std::this_thread::get_id());
  GroupFailureReport report;
  begin_running();
  runner_.run({phase, *protocol_.registry().workers()[0]}, f, report);
  leave_phase();
}

// --- threads of the application

void ParameterServer::Impl::start_progress(std::int32_t workers) {
  check_collective("start_progress");
  attached_phase_.emplace(
      agree_on_phase({.name = "start_progress",
                      .groups = Levels::Groups::joining,
                      .progress_threads = threads_ == ThreadSupport::serialized ? 1U : 0U},
                     workers));
  for (std::size_t i = 0; i < attached_phase_->local_workers; ++i)
    protocol_.registry().workers()[i]->set_activity(WorkerActivity::detached);
  begin_running();
  if (threads_ == ThreadSupport::serialized) {
    start_server_thread();
  } else {
    engine_.set_sole_driver(std::this_thread::get_id());
  }
  places_.open(attached_phase_->local_workers);
}

void ParameterServer::Impl::start_server_thread() {
  serving_ = true;
  try {
    server_thread_ =
        start_library_thread("lapse-server", [this] { engine_.serve([this] { return !serving_.load(); }); });
  } catch (const std::system_error& error) {
    // Every rank is notified of the reason. This thread drives the communication for that.
    engine_.set_sole_driver(std::this_thread::get_id());
    const auto failure = std::make_exception_ptr(
        Error(fmt::format("the thread of the server cannot be started: {}", error.what())));
    engine_.exclusively([&]() LAPSE_REQUIRES(progress_role) { protocol_.handle_failure(failure); });
  }
}

void ParameterServer::Impl::end_server_thread() {
  if (!server_thread_.joinable()) return;
  serving_ = false;
  engine_.notify();
  server_thread_.join();
}

void ParameterServer::Impl::end_attaching(std::string_view call) {
  throw_if_closed("stop_progress");
  if (!attached_phase_)
    throw UsageError(fmt::format("{} on rank {} without start_progress", call, rank().value()));
  check_may_call_mpi("stop_progress");
  if (const std::size_t taken = places_.close(); taken > 0) {
    throw UsageError(fmt::format("{} on rank {} while {} of {} workers are attached", call, rank().value(),
                                 taken, attached_phase_->local_workers));
  }
}

void ParameterServer::Impl::stop_progress() {
  end_attaching("stop_progress");
  end_server_thread();
  // Without a failure no worker of this rank is in a collective call: all are detached.
  if (attached_phase_->local_workers > 0 && !protocol_.failure().raised())
    insist("the end of the attached workers", [this] { all_workers_.leave(attached_phase_->first_worker); });
  for (std::size_t i = 0; i < attached_phase_->local_workers; ++i)
    protocol_.registry().workers()[i]->set_activity(WorkerActivity::returned);
  leave_phase();
}

AttachedWorker ParameterServer::Impl::attach(std::optional<std::size_t> place) {
  throw_if_closed("attach");
  protocol_.failure().check();
  const std::size_t taken = places_.take(place, rank());
  try {
    return AttachedWorker(std::make_unique<AttachedPlace>(
        places_, Seat{*attached_phase_, *protocol_.registry().workers()[taken]}));
  } catch (...) {
    places_.give_back(taken);
    throw;
  }
}

// --- during a phase

void ParameterServer::Impl::progress(std::chrono::microseconds wait) {
  throw_if_closed("progress");
  if (!running_) throw UsageError(fmt::format("progress on rank {} while no workers run", rank().value()));
  check_may_call_mpi("progress");
  engine_.make_progress(wait);
}

MpiCalls ParameterServer::Impl::mpi_calls() {
  throw_if_closed("mpi_calls");
  check_may_call_mpi("mpi_calls");
  return MpiCalls(mpi_lock_);
}

void ParameterServer::Impl::begin_running() {
  running_ = true;
  if (stop_requested()) report_stop();
}

}  // namespace lapse
