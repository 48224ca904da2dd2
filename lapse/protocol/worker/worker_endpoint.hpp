// The protocol's state for one worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lapse/core/limits.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/statistics/counters.hpp"
#include "lapse/protocol/worker/grant_request.hpp"
#include "lapse/protocol/worker/group_number.hpp"
#include "lapse/protocol/worker/lease_request.hpp"
#include "lapse/protocol/worker/operation_state.hpp"
#include "lapse/protocol/worker/read_samples.hpp"
#include "lapse/protocol/worker/required_versions.hpp"
#include "lapse/protocol/worker/routes_in_flight.hpp"
#include "lapse/protocol/worker/sync_request.hpp"
#include "lapse/protocol/worker/unanswered_table.hpp"
#include "lapse/protocol/worker/worker_activity.hpp"
#include "lapse/protocol/worker/worker_clock.hpp"
#include "lapse/protocol/worker/worker_level.hpp"
#include "lapse/transport/host/doorbell.hpp"

namespace lapse {

struct StallQuestion;

// Thread safety: the worker's thread, except where a comment names other threads.
class WorkerEndpoint {
 public:
  // Tests use smaller ones.
  struct Limits {
    UnansweredTable::Limits keys = {};
    std::uint32_t operations = limits::kOperationsOfWorker;  // a multiple of kChunk
  };
  explicit WorkerEndpoint(std::uint32_t local_index) : WorkerEndpoint(local_index, Limits()) {}
  WorkerEndpoint(std::uint32_t local_index, const Limits& limits);
  ~WorkerEndpoint();
  WorkerEndpoint(const WorkerEndpoint&) = delete;
  WorkerEndpoint& operator=(const WorkerEndpoint&) = delete;

  std::uint32_t local_index() const { return local_index_; }

  // Limit on the memory that finished operations keep for reuse, in total. Otherwise, each would keep the
  // memory of its largest use.
  static constexpr std::size_t kKeptBytes = std::size_t{16} << 20;

  // Called before a call. Throws UsageError if acquire would: too many operations are unfinished or have
  // handles.
  void require_operation() {
    if (free_.empty() && chunks_.size() == max_chunks_) [[unlikely]]
      reclaim_one();
  }
  // Returns a finished, empty operation for the worker to fill. Throws what require_operation throws.
  OperationState& acquire();
  // The worker no longer uses the operation, finished or not.
  void release(OperationState& operation);
  // The worker ends: its remaining handles have no effect any more. The operations that they refer to stay
  // allocated, unused, as long as this object. Called when open() is zero, or after a failure.
  void orphan_handles();
  // Returns the operation with this number in a message; null if there is none. Called by the engine.
  OperationState* find(std::uint64_t number) LAPSE_REQUIRES(progress_role);

  // Calls f(operation) for every operation that is not completely answered. Called by the engine while the
  // worker waits.
  template <class F>
  void for_each_open(F&& f) LAPSE_REQUIRES(progress_role) {
    for (std::size_t chunk = 0; chunk < kMaxChunks; ++chunk) {
      const OperationState* operations = chunk_starts_[chunk].load(std::memory_order_acquire);
      if (operations == nullptr) return;
      for (std::size_t i = 0; i < kChunk; ++i)
        if (!operations[i].done()) f(operations[i]);
    }
  }

  // Operation numbers of this worker carry its index.
  static std::uint32_t local_index_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(number >> 32);
  }

  // Called before the operation is submitted; `items` and `remaining` are set.
  void opened(OperationState& operation) {
    operation.side = level_.begin();
    open_bytes_.fetch_add(operation.update_bytes, std::memory_order_relaxed);
  }
  // The operation may be answered while it is being built. It stays open until all_built.
  static void begin_build(OperationState& operation) {
    operation.remaining.store(kNotBuilt, std::memory_order_relaxed);
  }
  void all_built(OperationState& operation) LAPSE_REQUIRES(progress_role) {
    opened(operation);
    leave(operation, kNotBuilt - static_cast<std::uint32_t>(operation.items.size()));
  }
  // Counts `items` answers to the operation, and wakes the worker with the last. The worker may reuse the
  // operation afterwards. Called by the engine.
  void answered(OperationState& operation, std::uint32_t items) LAPSE_REQUIRES(progress_role) {
    if (operation.kind != OperationKind::localize) unanswered_.finish_total(items);
    leave(operation, items);
  }
  // Some rank has failed, or a worker of its group: wakes the worker, and ends its direct accesses to memory.
  void failed() LAPSE_REQUIRES(progress_role) {
    unanswered_.close();
    bell_.ring();
  }
  // Operations submitted and not yet completely answered, and the bytes that they carry. Any thread.
  std::uint32_t open() const { return level_.open(); }
  std::uint64_t open_bytes() const { return open_bytes_.load(std::memory_order_acquire); }

  // Removes and returns the first failure of an operation without a handle. Requires that open() is zero.
  std::unique_ptr<KeyFailure> take_failure();

  // --- activity; read by any thread

  // What the worker is in its group.
  struct Placement {
    GroupNumber group = kAllWorkers;
    std::uint64_t number = 0;  // among the workers of the group
  };
  // Called between phases.
  void take_seat(const Placement& seat) {
    progress_role.assert_held();  // No engine runs.
    seat_ = seat;
    unanswered_.open();
    unanswered_.count().unbar();
    level_.take_seat();
    level_.set_left_need(0);
    activity_.store(WorkerActivity::application, std::memory_order_relaxed);
    collective_calls_.store(0, std::memory_order_relaxed);
  }
  // Constant during a phase.
  const Placement& seat() const { return seat_; }
  WorkerActivity activity() const { return activity_.load(std::memory_order_relaxed); }
  void set_activity(WorkerActivity activity) { activity_.store(activity, std::memory_order_relaxed); }
  // How many collective calls the worker has made in its seat.
  std::uint32_t collective_calls() const { return collective_calls_.load(std::memory_order_relaxed); }
  void count_collective_call() { collective_calls_.store(collective_calls() + 1, std::memory_order_relaxed); }
  // The worker's only stall question; allocated by the first call.
  StallQuestion& stall_question();

  WorkerLevel& level() { return level_; }
  const WorkerLevel& level() const { return level_; }
  // Notifies the engine that the worker's level may have risen.
  LevelNotice& level_notice() { return level_notice_; }
  // May outlive the endpoint.
  const std::shared_ptr<WorkerClock>& clock() const { return clock_; }

  // The worker's only lease.
  LeaseRequest& lease_request() { return lease_request_; }
  // The worker's only request for grants.
  GrantRequest& grant_request() { return grant_request_; }
  // The worker's only wait until replicas are merged and refreshed.
  SyncRequest& sync_request() { return sync_request_; }

  // Whether the worker may access the key in its domain's memory now, as far as its own order goes: none of
  // its operations on the key is unanswered, and the domain's replica, if there is one, is not older than the
  // worker requires (rule 23). `word`: the key's slot word, or null. Whether a usable value is there is up to
  // the word (direct_access in role_table.hpp, by which SlotBits are made).
  bool may_access_memory(const TableShard& table, Key key, const Store::Word* word) {
    return !unanswered_.contains(table.id(), key) &&
           (required_versions_.empty() || required_versions_.are_met_by(table, key, word));
  }

  RequiredVersions& required_versions() { return required_versions_; }
  UnansweredTable& unanswered() { return unanswered_; }
  const UnansweredTable& unanswered() const { return unanswered_; }
  RoutesInFlight& routes() LAPSE_REQUIRES(progress_role) { return routes_; }
  Doorbell& bell() { return bell_; }
  // By table: counts this worker's accesses without the engine.
  std::vector<TableCounters>& counters() { return counters_; }
  const std::vector<TableCounters>& counters() const { return counters_; }
  // By table: keys of those accesses that were part of calls which the counters count as operations. (Inlined
  // calls of one key count only their key.)
  std::vector<std::uint64_t>& keys_of_operations() { return keys_of_operations_; }
  // Provides a counter for each table.
  void count_tables(std::size_t tables) {
    counters_.resize(tables);
    keys_of_operations_.resize(tables);
  }
  // Returns the worker's counters for the table, with inlined calls counted as operations.
  TableCounters counted(TableId table) const {
    TableCounters counted = counters_[table.index()];
    counted.operations += counted.local_pulls + counted.local_pushes - keys_of_operations_[table.index()];
    return counted;
  }
  ReadSamples& read_samples() { return read_samples_; }

 private:
  // constant
  std::uint32_t local_index_;
  // constant during a phase
  Placement seat_;
  // self-synchronised
  WorkerLevel level_;  // and the operations that are not completely answered
  std::atomic<std::uint64_t> open_bytes_{0};
  UnansweredTable unanswered_;
  RoutesInFlight routes_;
  RequiredVersions required_versions_{unanswered_.count()};
  Doorbell bell_;
  ReadSamples read_samples_;
  std::atomic<WorkerActivity> activity_{WorkerActivity::application};
  std::atomic<std::uint32_t> collective_calls_{0};
  // Operations are stored in chunks that never move, because engines hold pointers to them.
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kMaxChunks = limits::kOperationsOfWorker / kChunk;
  std::unique_ptr<std::atomic<OperationState*>[]> chunk_starts_ =
      std::make_unique<std::atomic<OperationState*>[]>(kMaxChunks);
  // the worker's
  std::vector<std::unique_ptr<OperationState[]>> chunks_;
  std::vector<OperationState*> free_;
  std::size_t kept_bytes_ = 0;             // by those in free_
  std::vector<OperationState*> detached_;  // released before they were finished
  std::vector<TableCounters> counters_;
  std::vector<std::uint64_t> keys_of_operations_;
  std::unique_ptr<KeyFailure> failure_;
  std::shared_ptr<WorkerClock> clock_ = std::make_shared<WorkerClock>();
  LeaseRequest lease_request_;
  GrantRequest grant_request_{*this};
  SyncRequest sync_request_;
  LevelNotice level_notice_;
  std::unique_ptr<StallQuestion> stall_question_;
  // constant
  const std::size_t max_chunks_;

  static constexpr std::uint32_t kNotBuilt = std::uint32_t{1} << 31;
  static_assert(limits::kKeysOfCall < kNotBuilt);

  // Subtracts `items` from the items that are left; wakes the worker with the last.
  void leave(OperationState& operation, std::uint32_t items) LAPSE_REQUIRES(progress_role) {
    const std::size_t bytes = operation.update_bytes;
    const std::uint8_t side = operation.side;
    const std::uint32_t left = operation.remaining.load(std::memory_order_relaxed) - items;
    operation.remaining.store(left, std::memory_order_release);
    if (left != 0) return;
    open_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    level_.end(side);
    bell_.ring();
  }

  // Frees the finished operations that were released before they finished.
  void reclaim();
  // Like reclaim; throws UsageError if no operation is free afterwards.
  void reclaim_one();
  void make_free(OperationState& operation);
  // Reclaims operations or allocates a further chunk. Throws what require_operation throws.
  void add_operations();
};

}  // namespace lapse
