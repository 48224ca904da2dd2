#include "lapse/ps/access/worker_core.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/ps/access/lease_hold.hpp"
#include "lapse/ps/access/lease_taker.hpp"
#include "lapse/ps/groups.hpp"
#include "lapse/ps/stalls/stall_reports.hpp"
#include "lapse/ps/stalls/stall_watch.hpp"
#include "lapse/ps/worker.hpp"

namespace lapse {

using Busy = WorkerGate::Busy;
using BusyGuard = WorkerGate::BusyGuard;

namespace {

// Publishes what the worker waits for while the object lives.
class ActivityGuard {
 public:
  ActivityGuard(WorkerEndpoint& endpoint, WorkerActivity activity) : endpoint_(endpoint) {
    endpoint_.set_activity(activity);
  }
  ~ActivityGuard() { endpoint_.set_activity(WorkerActivity::application); }
  ActivityGuard(const ActivityGuard&) = delete;
  ActivityGuard& operator=(const ActivityGuard&) = delete;

 private:
  WorkerEndpoint& endpoint_;
};

}  // namespace

// --- accesses ---

void WorkerCore::submit(Submission& submission) {
  const BusyGuard guard(gate_, Busy::engine);
  phase_.engine.submit(submission);
}

void WorkerCore::help_round() {
  if (gate_.busy() == Busy::user_code || gate_.busy() == Busy::engine) return;
  const BusyGuard guard(gate_, Busy::engine);
  Submission round{.handler = &phase_.protocol.replication()};
  phase_.engine.help(round);
}

// --- handles ---

void WorkerCore::wait_for(const OperationState& operation) {
  check_life();
  check_failure();
  if (operation.done()) return;
  wait_until([&] { return operation.done(); },
             operation.kind == OperationKind::localize ? "a localize" : "an answer");
}

void WorkerCore::abandon(OperationState& operation) noexcept {
  if (is_left()) return;
  if (!operation.done() && operation.destination != nullptr) {
    if (gate_.busy() == Busy::user_code || gate_.busy() == Busy::engine) {
      // Waiting for the engine could block indefinitely: the engine may be waiting for the latch that is
      // held.
      phase_.logger.error("an unfinished pull was destroyed by a function that runs under a key's latch");
      std::terminate();
    }
    const BusyGuard guard(gate_, Busy::engine);
    phase_.engine.exclusively([&] { operation.destination = nullptr; });
  }
  endpoint_.release(operation);
}

// --- the clock ---

void WorkerCore::advance_clock() {
  check_life();
  check_failure();
  const GroupLevels& levels = *phase_.levels;
  if (levels.counts_clocks()) {
    // Others may wait for what this worker holds, and what it writes there is not marked yet.
    check_call(phase_.server);
    if (!may_advance())
      wait_until([this] { return may_advance(); }, "operations from before the last advance of its clock");
    endpoint_.level().advance();
    if (!may_pass_all()) endpoint_.unanswered().count().bar();
    notify_level();
    count_lags();
  } else if (levels.is_used()) {
    endpoint_.level().advance();
  }
  endpoint_.clock()->advance();
}

void WorkerCore::wait_to_pass(const TableHandle& table) {
  if (may_pass(table)) return;
  const Level clock = endpoint_.level().clock();
  const std::uint32_t bound = *table.state().definition().clock_bound;
  awaited_level_ = clock - bound;
  const auto began = std::chrono::steady_clock::now();
  wait_until([&] { return may_pass(table); },
             fmt::format("slower workers: at clock {} it may access table '{}', with staleness {}, when all "
                         "others have reached clock {}",
                         clock, table.name(), bound, awaited_level_),
             StallSubject::level);
  TableCounters& counters = gate_.counters(table);
  ++counters.clock_waits;
  counters.clock_waiting_nanoseconds +=
      static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - began).count());
  count_lags();
}

void WorkerCore::wait_for_copies(const std::function<bool()>& done, std::string_view what) {
  wait_until(done, what, StallSubject::wait_sync);
}

void WorkerCore::wait_for_all_tables() {
  UnansweredCount& count = endpoint_.unanswered().count();
  if (!count.is_barred()) return;
  if (!may_pass_all()) {
    const Level clock = endpoint_.level().clock();
    awaited_level_ = phase_.levels->awaited(clock);
    wait_until([this] { return may_pass_all(); },
               fmt::format("slower workers, before a lease: at clock {} every table may be accessed when all "
                           "others have reached clock {}",
                           clock, awaited_level_),
               StallSubject::level);
  }
  count.unbar();
  count_lags();
}

// --- leases ---

Lease WorkerCore::lease(std::span<const LeaseKeys> parts) {
  check_call(phase_.server);
  check_failure();
  wait_for_all_tables();
  LeaseTaker taker(*this);
  taker.begin(parts);
  while (!taker.advance()) {
    try {
      wait_until([&] { return taker.may_advance(); }, "a lease");
    } catch (const GroupFailed&) {
      // What was requested comes: it is for another worker to have.
      if (taker.requested()) {
        wait_until([&] { return taker.released(); }, "a lease", StallSubject::keys, EndedBy::rank);
        if (endpoint_.lease_request().failure == nullptr) taker.take();
      }
      throw;
    }
  }
  return taker.take();
}

void WorkerCore::submit_lease(LeaseRequest& request) {
  request.handler = &phase_.protocol.leases();
  submit(request);
}

Lease WorkerCore::hold(std::unique_ptr<LeaseHold> lease) {
  lease->begin(*this);
  lease_ = lease.get();
  gate_.set_busy(Busy::lease);
  return Lease(std::move(lease));
}

void WorkerCore::let_go() {
  std::exchange(lease_, nullptr)->ended();
  gate_.set_busy(Busy::no);
}

void WorkerCore::end_lease() {
  LeaseTaker taker(*this);
  taker.begin_release();
  // Where the group has failed, other groups wait for the keys still.
  phase_.protocol.failure().check();
  if (!taker.released())
    wait_until([&] { return taker.released(); }, "the end of its lease", StallSubject::keys, EndedBy::rank);
  check_failure();
}

void WorkerCore::abandon_lease() noexcept {
  try {
    end_lease();
  } catch (...) {
    // If a rank has failed, no other worker waits for the keys any more; the failure of the group is thrown
    // when the keys are released.
  }
}

void WorkerCore::drain() noexcept {
  try {
    wait_until([this] { return has_answers() && synced() && endpoint_.grant_request().is_idle(); },
               "the answers to a worker of a failed group", StallSubject::keys, EndedBy::rank);
    endpoint_.take_failure();
  } catch (...) {
    // A rank has failed: the slot is not used again.
  }
}

// --- waiting ---

void WorkerCore::wait_for_room(std::size_t keys) {
  const auto room = [this, keys] {
    return endpoint_.open() < phase_.options.max_outstanding_operations &&
           endpoint_.open_bytes() < phase_.options.max_outstanding_bytes &&
           endpoint_.unanswered().has_room(keys);
  };
  if (!room()) [[unlikely]]
    wait_until([&] { return room() || endpoint_.open() == 0; }, "space for a further operation");
}

template <class Done>
void WorkerCore::wait_until(Done&& done, std::string_view what, StallSubject subject, EndedBy ended_by) {
  check_call(phase_.server);
  const Failure& failure = phase_.protocol.failure();
  const auto failed = [&] {
    return failure.raised() || (ended_by == EndedBy::group && group_failure_.raised());
  };
  StallWatch watch(phase_.options.stall_report);
  const bool collective = subject == StallSubject::workers || subject == StallSubject::sync_barrier;
  const auto for_whom = collective ? ProgressEngine::WaitFor::workers : ProgressEngine::WaitFor::answers;
  const TimedRegion region(region_name(subject));
  const ActivityGuard activity(endpoint_, collective                       ? WorkerActivity::collective
                                          : subject == StallSubject::level ? WorkerActivity::clock
                                                                           : WorkerActivity::operations);
  for (;;) {
    bool stalled = false;
    const BusyGuard guard(gate_, Busy::engine);
    const auto ended = [&] {
      if (done() || failed() || stalled) return true;
      stalled = watch.due();
      return stalled;
    };
    phase_.engine.wait(endpoint_.bell(), ended, for_whom);
    if (done()) return;
    failure.check();
    if (ended_by == EndedBy::group && group_failure_.raised()) throw_group_failed();
    if (phase_.stalls != nullptr) {
      phase_.stalls->report_worker({endpoint_, index(), phase_.group.reporter(),
                                    phase_.protocol.stall_inquiry(), phase_.engine, awaited_level_},
                                   watch.waited(), what, subject, [&] { return done() || failed(); });
    }
    watch.restart();
  }
}

void WorkerCore::wait_all() {
  check_life();
  check_failure();
  wait_until([this] { return has_answers(); }, "all its operations");
  if (const std::unique_ptr<KeyFailure> failure = endpoint_.take_failure()) failure->raise();
}

std::uint64_t WorkerCore::contribute(Bytes contribution) {
  wait_all();
  const BusyGuard guard(gate_, Busy::engine);
  endpoint_.count_collective_call();
  return phase_.group.contribute(seat().local_index(), std::move(contribution));
}

const Bytes& WorkerCore::collective(Bytes contribution, std::string_view what) {
  const std::uint64_t round = contribute(std::move(contribution));
  wait_until([&] { return phase_.group.completed(round); }, what, StallSubject::workers);
  return phase_.group.result();
}

void WorkerCore::sync_barrier(Bytes contribution) {
  check_life();
  if (!phase_.group.is_all()) return sync_group(std::move(contribution));
  // No detection can complete before this worker has contributed.
  const TerminationDetection& termination = phase_.protocol.termination();
  const std::uint64_t detection = termination.completed() + 1;
  contribute(std::move(contribution));
  wait_until([&] { return termination.completed() >= detection; }, "all workers and ranks at a sync_barrier",
             StallSubject::sync_barrier);
  forget_before_sync();
}

void WorkerCore::sync_group(Bytes contribution) {
  constexpr std::string_view kWhat = "the other workers of the group at a sync_barrier";
  // Every operation of the group is answered: a first sync of each rank merges what its domain has changed, a
  // second one refreshes what its domain reads.
  const Bytes again = contribution;
  collective(std::move(contribution), kWhat);
  for (int sync = 0; sync < 2; ++sync) {
    if (seat().local_index() == 0) wait_sync();
    collective(again, kWhat);
  }
  forget_before_sync();
}

void WorkerCore::wait_sync() {
  wait_all();
  begin_sync();
  wait_until([this] { return synced(); }, "copies that are merged and refreshed (wait_sync)",
             StallSubject::wait_sync);
  end_sync();
  // Of the worker's own pushes, not all copies show them.
  for (const auto& cache : read_caches_)
    if (cache != nullptr) cache->clear();
}

void WorkerCore::begin_sync() {
  Synchronization& synchronization = phase_.protocol.synchronization();
  if (!synchronization.has_work()) return;
  SyncRequest& request = endpoint_.sync_request();
  request.handler = &synchronization;
  request.finished.store(false, std::memory_order_relaxed);
  submit(request);
}

}  // namespace lapse
