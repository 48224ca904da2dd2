#include "lapse/ps/access/worker_core.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "lapse/core/tracing/timed_region.hpp"
#include "lapse/ps/access/call_count.hpp"
#include "lapse/ps/access/direct_call.hpp"
#include "lapse/ps/access/lease_hold.hpp"
#include "lapse/ps/access/lease_taker.hpp"
#include "lapse/ps/access/local_access.hpp"
#include "lapse/ps/access/operation_builder.hpp"
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

Operation WorkerCore::access(const TableHandle& table, std::span<const Key> keys,
                             const AccessRequest& request) {
  endpoint_.require_operation();
  wait_for_room(keys.size());
  observe(table.state(), keys, table.state().reach(request.operation));
  try {
    return access_with_room(table, keys, request);
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(table, keys.size());
  }
}

void WorkerCore::throw_out_of_memory(const TableHandle& table, std::size_t keys) const {
  throw OutOfMemory(fmt::format("no memory on rank {} for a call on {} keys of table '{}'",
                                phase_.rank.value(), keys, table.state().name()));
}

Operation WorkerCore::access_with_room(const TableHandle& table, std::span<const Key> keys,
                                       const AccessRequest& request) {
  TableShard& state = table.state();
  const CallCount count(*this, gate_.counters(table), state, keys,
                        request.operation.kind == OperationKind::pull);
  const LocalAccess::Counts counts = count.keys();
  const std::size_t first = gate_.is_clear() ? LocalAccess::run(state, keys, request, counts) : 0;
  if (first == keys.size()) return {};
  sweep_required();
  LocalAccess local(state, keys, request, endpoint_, counts, phase_.rank, first);
  OperationBuilder builder(endpoint_, state, request, phase_.protocol.access(), keys.size() - first);
  // If the worker could hold the engine for long, other threads take turns between keys and sending.
  constexpr std::size_t kMaxBytesInEngine = std::size_t{4} << 20;
  const bool plain = !request.runs_user_code(state) && state.sizes().uniform();
  if (plain && keys.size() * state.sizes().layout().value_bytes() <= kMaxBytesInEngine) {
    local.carry_out_leading();
    if (local.at_end()) return {};
    if (state.definition().members() == 1) local.expect_no_arrivals(!gate_.is_clear());
    OperationState& operation = builder.state();
    DirectCall call(local, builder, phase_.protocol.access(), phase_.rank);
    const BusyGuard guard(gate_, Busy::engine);
    if (phase_.engine.try_submit(call)) {
      while (!call.is_complete()) [[unlikely]] {
          local.carry_out_leading();
          phase_.engine.submit_in_place(call);
        }
      Operation handle(*this, operation);
      const bool is_over = operation.items.empty() && operation.done() && !operation.failure;
      return is_over ? Operation() : std::move(handle);
    }
    local.expect_arrivals();
  }
  {
    std::optional<BusyGuard> guard;
    if (request.runs_user_code(state)) guard.emplace(gate_, Busy::user_code);
    try {
      local.carry_out_rest([&](const Row& row, const Store::Word*) { builder.add(row); });
    } catch (...) {
      if (!builder.refuse(local.next_key(), phase_.rank)) throw;
    }
  }
  std::optional<UserCodeFailed>& failure = local.failure();
  if (builder.empty()) {
    builder.discard();
    if (failure) throw UserCodeFailed(*failure);
    return {};
  }
  // The caller gets all failures in one place.
  if (failure) builder.fail(*failure);
  return submit(builder);
}

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

Operation WorkerCore::submit(OperationBuilder& builder) {
  OperationState& state = builder.finish();
  Operation handle(*this, state);
  const BusyGuard guard(gate_, Busy::engine);
  if (phase_.engine.try_submit(state)) return handle;
  // Another thread will carry it out later, when the call's rows may have changed.
  try {
    state.keep_updates();
  } catch (const std::bad_alloc&) {
    builder.refuse(state.items.front().key, phase_.rank);
  }
  phase_.engine.submit(state);
  return handle;
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

// --- leases ---

Lease WorkerCore::lease(std::span<const LeaseKeys> parts) {
  check_call(phase_.server);
  check_failure();
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
    wait_until([this] { return has_answers() && synced(); }, "the answers to a worker of a failed group",
               StallSubject::keys, EndedBy::rank);
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
  const ActivityGuard activity(endpoint_,
                               collective ? WorkerActivity::collective : WorkerActivity::operations);
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
      phase_.stalls->report_worker(
          {endpoint_, index(), phase_.group.reporter(), phase_.protocol.stall_inquiry(), phase_.engine},
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
}

void WorkerCore::wait_sync() {
  wait_all();
  begin_sync();
  wait_until([this] { return synced(); }, "copies that are merged and refreshed (wait_sync)",
             StallSubject::wait_sync);
  end_sync();
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
