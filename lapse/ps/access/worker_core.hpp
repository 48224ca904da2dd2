// The part of a worker that is not inlined into the user's program.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "lapse/consistency/read_cache.hpp"
#include "lapse/consistency/value_gate.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/process/fork_hook.hpp"
#include "lapse/core/process/own_process.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/group/tree_reduction.hpp"
#include "lapse/protocol/table/key_observer.hpp"
#include "lapse/protocol/worker/operation_state.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"
#include "lapse/ps/access/access_request.hpp"
#include "lapse/ps/access/argument_checks.hpp"
#include "lapse/ps/access/bounded_push.hpp"
#include "lapse/ps/access/phase.hpp"
#include "lapse/ps/lease.hpp"
#include "lapse/ps/operation.hpp"
#include "lapse/ps/stalls/stall_watch.hpp"
#include "lapse/ps/worker_gate.hpp"
#include "lapse/store/row_elements.hpp"

namespace lapse {

class GrantedPush;
class OperationBuilder;
enum class Locality : std::uint8_t;

// Passes the calls of one worker to its rank's memory and to the engine, and waits for answers. Functions
// that worker.hpp describes have no comment here.
//
// Thread safety: the worker's thread.
class WorkerCore {
 public:
  // The gate is the worker's and outlives the core.
  WorkerCore(const Seat& seat, WorkerGate& gate)
      : phase_(seat.phase), endpoint_(seat.slot), gate_(gate), arguments_(phase_.rank) {}
  ~WorkerCore() { end(); }
  WorkerCore(const WorkerCore&) = delete;
  WorkerCore& operator=(const WorkerCore&) = delete;

  // Ends a lease that is still held. From then on handles of operations do nothing, and calls throw. Does
  // nothing in a child that fork has made since the worker was made.
  void end() noexcept;

  const Phase& phase() const { return phase_; }
  Seat seat() const { return {phase_, endpoint_}; }
  Rank rank() const { return phase_.rank; }
  std::size_t index() const { return seat().index(); }
  WorkerEndpoint& endpoint() { return endpoint_; }
  const WorkerEndpoint& endpoint() const { return endpoint_; }
  const ArgumentChecks& arguments() const { return arguments_; }
  TableCounters& counters(const TableHandle& table) { return gate_.counters(table); }

  // --- before an access ---

  // What an access may meet: it waits until the table may be accessed at the worker's clock; it does not wait
  // and asks may_pass; the same, also under a lease.
  enum class Allowed : std::uint8_t { when_free, without_wait, under_lease };

  // Every access calls this before it touches the store, unless the gate is open for it (WorkerGate). Throws
  // PeerFailed if a rank has failed, UsageError if the worker cannot be called now or the table belongs to
  // another server, KeyOutOfRange.
  void admit(const TableHandle& table, std::span<const Key> keys, Allowed allowed = Allowed::when_free) {
    if (!gate_.is_open(table)) [[unlikely]]
      check_admission(table, allowed);
    arguments_.keys(table.state(), keys);
  }
  // Like admit. Also throws LengthMismatch unless the keys' values have `elements` elements in all.
  void admit_values(const TableHandle& table, std::span<const Key> keys, std::string_view what,
                    std::size_t elements, Allowed allowed = Allowed::when_free) {
    admit(table, keys, allowed);
    arguments_.elements(table.state(), keys, what, elements);
  }
  void check_admission(const TableHandle& table, Allowed allowed);
  LAPSE_EXPORT_INNER void check_call(const void* server, Allowed allowed = Allowed::when_free) const;
  // Throws UsageError if the worker has ended, or in a child that fork has made since the worker was made.
  void check_life() const {
    if (has_ended_ || is_left()) [[unlikely]]
      refuse_life();
  }
  bool is_left() const { return process_.is_left(); }
  // Throws PeerFailed if a rank has failed, GroupFailed if a worker of the group has.
  void check_failure() const {
    phase_.protocol.failure().check();
    if (group_failure_.raised()) [[unlikely]]
      throw_group_failed();
  }

  // --- the clock ---

  // Waits until the operations from before the last advance are answered.
  void advance_clock();
  bool may_advance() const { return endpoint_.level().may_advance(); }
  // Whether the worker may access the table, or every table, at its clock.
  bool may_pass(const TableHandle& table) const {
    return !endpoint_.unanswered().count().is_barred() ||
           phase_.levels->admits(table.state(), endpoint_.level().clock());
  }
  bool may_pass_all() const { return phase_.levels->admits_all(endpoint_.level().clock()); }
  // A worker that is attached begins at a clock of which nothing is promised to others, and ends.
  void join_clock();
  void leave_clock();
  // The worker of the seat makes no call any more: no other one waits for its clock.
  static void end_clock(const Seat& seat) noexcept;

  // --- accesses, once admitted ---

  Operation access(const TableHandle& table, std::span<const Key> keys, const AccessRequest& request);
  Operation access_elements(const TableHandle& table, const ElementPairs& pairs,
                            const AccessRequest& request);
  // Pushes, which wait if the table has a value bound.
  Operation push_checked(const TableHandle& table, std::span<const Key> keys, const AccessRequest& request);
  Operation push_elements_checked(const TableHandle& table, const ElementPairs& pairs,
                                  const AccessRequest& request);
  // Pulls of a table whose reads the worker keeps: what was read recently, in memory or by message. Wait.
  Operation pull_cached(const TableHandle& table, std::span<const Key> keys, std::byte* to);
  Operation pull_elements_cached(const TableHandle& table, const ElementPairs& pairs, std::byte* to);
  // The worker changes the keys in a way that what it keeps of them does not show.
  void forget_reads(const TableHandle& table, std::span<const Key> keys);
  // All copies show all updates now: nothing older may be read any more, and no gate waits.
  void forget_before_sync();
  // For calls whose changes are not known before. Throws UsageError if the table has a value bound.
  void refuse_bounded(const TableHandle& table, std::string_view call) const {
    if (table.state().definition().value_bound) [[unlikely]]
      throw_bounded(table, call);
  }
  // The steps of such a push of whole values, if the bound is for all workers together: a test calls them.
  std::unique_ptr<GrantedPush> begin_push(const TableHandle& table, std::span<const Key> keys,
                                          const AccessRequest& request);
  // What GrantedPush uses. Changes a key in memory, if it has no replicas: then all copies show the change.
  // Returns whether it has.
  bool push_sole(const TableHandle& table, const BoundedPush& push, std::size_t first,
                 const BoundedPush::Unit& unit);
  // The epoch in which all copies show the worker's changes of the key, which are answered; 0: they do.
  Level need_of(const TableShard& table, Key key) const;
  double value_bound(const TableShard& table) const;
  void submit(Submission& submission);
  // Whether a push to these keys, each of this magnitude, would not wait. If it would, the ranks are asked
  // for what it waits for.
  bool may_push(const TableHandle& table, std::span<const Key> keys, double magnitude);
  Operation localize(const TableHandle& table, std::span<const Key> keys);
  Locality locality(const TableHandle& table, Key key);
  bool read_if_local(const TableHandle& table, Key key, std::byte* to);
  // Reports a beginning access to the phase's observer, if any.
  void observe(const TableShard& table, std::span<const Key> keys, Store::Reach reach,
               AccessKind kind) const {
    if (phase_.observer != nullptr) [[unlikely]]
      phase_.observer->accessed(table, keys, reach, kind);
  }
  void observe_leased(const TableShard& table, std::span<const Key> keys, AccessKind kind) const {
    if (phase_.observer != nullptr) [[unlikely]]
      phase_.observer->leased(table, keys, kind);
  }
  void observe_update(const TableShard& table, Key key) const;  // in place, if the key is local
  // Counts the staleness of a replica that the worker has read, if this rank serves the key.
  void sample_read(const TableShard& table, Key key);
  void for_each_local(const TableHandle& table,
                      const std::function<void(Key key, const std::byte* value, std::size_t length)>& f);

  // Sets usable[i] to whether keys[i] can be read in memory without a message, as far as that shows without
  // the latches that other threads may hold. At most kMaxUsableAtOnce keys.
  static constexpr std::size_t kMaxUsableAtOnce = Store::kMaxAtOnce;
  LAPSE_EXPORT_INNER void find_usable(const TableHandle& table, std::span<const Key> keys,
                                      std::span<bool> usable);

  // Begins a round of replication, if its limits allow one, and handles the packets that have arrived. Does
  // nothing if another thread drives the engine or this worker may not.
  LAPSE_EXPORT_INNER void help_round();

  // --- handles ---

  void wait_for(const OperationState& operation);
  // Called when the operation's handle is destroyed. Discards an answer that arrives later.
  void abandon(OperationState& operation) noexcept;

  // --- leases ---

  Lease lease(std::span<const LeaseKeys> parts);
  // Submits the lease request of the endpoint to the engine.
  void submit_lease(LeaseRequest& request);
  // Before a lease is requested: its holder must not wait.
  void wait_for_all_tables();
  // Makes a lease: from now on the worker holds these keys.
  Lease hold(std::unique_ptr<LeaseHold> lease);
  // Ends the worker's lease; its keys are still to be released.
  void let_go();
  // Releases the keys of the lease and waits until the engine has released all of them.
  void end_lease();
  // Like end_lease, except that the failure of a rank only ends the wait.
  void abandon_lease() noexcept;
  // The group of the worker has failed, and the worker has ended: waits until the engine has nothing of it
  // any more, so that another worker can have the slot. A failure of some rank only ends the wait.
  void drain() noexcept;

  // --- together ---

  void wait_all();
  // Collective over all workers. Returns their contributions, combined.
  const Bytes& collective(Bytes contribution, std::string_view what);
  void sync_barrier(Bytes contribution);
  void wait_sync();
  // The steps of wait_sync: no operation is in flight, so that it may begin; the request to the engine; the
  // engine is done; the end.
  bool has_answers() const { return endpoint_.open() == 0; }
  void begin_sync();
  bool synced() const { return endpoint_.sync_request().finished.load(std::memory_order_acquire); }
  void end_sync() { endpoint_.required_versions().clear(); }

 private:
  [[noreturn]] LAPSE_EXPORT_INNER void refuse_life() const;
  // Whether no other worker of this rank is behind: a worker that is will notify the engine.
  bool may_raise_level() const;
  void notify_level();
  static void report_level(const Seat& seat) noexcept;
  // Counts by how much what the worker can read is behind its clock, once in a clock, for each clocked table
  // that it may access now.
  void count_lags();
  // What the worker keeps of the table.
  ReadCache& read_cache(const TableShard& table);
  // The oldest stamp that it may read at its clock.
  Level least_stamp(const TableShard& table) const;
  void fetch(const TableHandle& table, std::span<const Key> keys, std::byte* to);
  // The worker pushes to the keys.
  void change_reads(const TableShard& table, std::span<const Key> keys, const AccessRequest& request);
  Operation push_bounded(const TableHandle& table, const BoundedPush& push);
  Operation push_granted(const TableHandle& table, const BoundedPush& push);
  // The gate of a table with a value bound.
  ValueGate& value_gate(const TableShard& table);
  // Finds out whether the worker's updates of the key are answered; of all keys, if they have become many.
  void settle(ValueGate& gate, const TableShard& table, Key key) const;
  void settle_all(ValueGate& gate, const TableShard& table) const;
  void want_epoch(Level epoch);
  void count_value_wait(const TableHandle& table, std::size_t waits,
                        std::chrono::steady_clock::time_point began);
  // Keys and updates must outlive the result.
  BoundedPush bounded_rows(const TableHandle& table, std::span<const Key> keys, const AccessRequest& request);
  void wait_for_gate(const TableHandle& table, const BoundedPush::Unit& unit);
  void wait_for_copies(const std::function<bool()>& done, std::string_view what);
  [[noreturn]] LAPSE_EXPORT_INNER void throw_bounded(const TableHandle& table, std::string_view call) const;
  // Waits until the worker may access the table at its clock.
  void wait_to_pass(const TableHandle& table);
  // Returns the number of completed rounds to wait for.
  std::uint64_t contribute(Bytes contribution);
  Operation access_with_room(const TableHandle& table, std::span<const Key> keys,
                             const AccessRequest& request);
  Operation access_elements_with_room(const TableHandle& table, const ElementPairs& pairs,
                                      const AccessRequest& request);
  // For a call on `keys` keys of which none was sent.
  [[noreturn]] void throw_out_of_memory(const TableHandle& table, std::size_t keys) const;
  Operation submit(OperationBuilder& builder);
  // Waits while too much is in flight, by the options or by the limits of counters, for a call on `keys`
  // keys.
  void wait_for_room(std::size_t keys);
  // Whose failure ends a wait.
  enum class EndedBy : std::uint8_t { group, rank };
  // Drives the engine until done(), or throws a failure. Reports a stall that concerns `what`.
  template <class Done>
  void wait_until(Done&& done, std::string_view what, StallSubject subject = StallSubject::keys,
                  EndedBy ended_by = EndedBy::group);
  [[noreturn]] LAPSE_EXPORT_INNER void throw_group_failed() const;
  // sync_barrier of a group that is not all workers.
  void sync_group(Bytes contribution);
  // Reads the value of an uninitialized key, if its home is this domain. Throws UserCodeFailed.
  bool read_uninitialized(const TableShard& table, Key key, std::byte* to);
  // Removes some of the versions that the worker requires and that have arrived.
  void sweep_required();
  // Returns the value of a key in the worker's lease; null if it has none.
  const std::byte* leased_value(const TableShard& table, Key key);

  const Phase phase_;  // a copy: calls may use it after the phase
  WorkerEndpoint& endpoint_;
  WorkerGate& gate_;
  const Failure& group_failure_ = phase_.group.failure();
  const OwnProcess process_;
  bool has_ended_ = false;
  const ArgumentChecks arguments_;
  LeaseHold* lease_ = nullptr;       // null if none is held
  Level awaited_level_ = 0;          // of the last wait for slower workers
  std::vector<Level> counted_lags_;  // by table: the last clock in which count_lags has counted
  std::vector<std::unique_ptr<ReadCache>> read_caches_;  // like value_gates_
  std::vector<std::unique_ptr<ValueGate>> value_gates_;  // by table; null until they are used
  const ForkHook fork_hook_{[](void* gate) noexcept { static_cast<WorkerGate*>(gate)->close(); }, &gate_};
};

}  // namespace lapse
