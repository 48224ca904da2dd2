// What the protocol stores for one worker.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "lapse/core/counters.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/lease_request.hpp"
#include "lapse/protocol/operation_state.hpp"
#include "lapse/protocol/unanswered_table.hpp"
#include "lapse/transport/doorbell.hpp"

namespace lapse {

// Thread safety: the worker's thread, except where a comment names other threads.
class WorkerEndpoint {
 public:
  explicit WorkerEndpoint(std::uint32_t local_index) : local_index_(local_index) {
    lease_request_.worker = this;
  }
  WorkerEndpoint(const WorkerEndpoint&) = delete;
  WorkerEndpoint& operator=(const WorkerEndpoint&) = delete;

  std::uint32_t local_index() const { return local_index_; }

  // A finished operation, empty, for the worker to fill.
  OperationState& acquire();
  // The worker has no further use for the operation, finished or not.
  void release(OperationState& operation);
  // The worker ends: handles that outlive the worker do nothing any more. The operations that they refer to
  // stay allocated, unused, as long as this object. Called when open() is zero, or after a failure.
  void orphan_handles();
  // The operation with the number in a message; null when there is none. Engine.
  OperationState* find(std::uint64_t number) LAPSE_REQUIRES(progress_role);

  // Operation numbers of this worker carry its index.
  static std::uint32_t local_index_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(number >> 32);
  }

  // The operation is about to be submitted; `items` and `remaining` are set.
  void opened(const OperationState& operation) {
    open_.fetch_add(1, std::memory_order_relaxed);
    open_bytes_.fetch_add(operation.payload.size(), std::memory_order_relaxed);
  }
  // `items` of the operation have been answered: counts them, and wakes the worker with the last. Engine; the
  // worker may reuse the operation afterwards.
  void answered(OperationState& operation, std::uint32_t items) LAPSE_REQUIRES(progress_role) {
    if (operation.kind != OperationKind::localize) unanswered_.finish_total(items);
    const std::size_t bytes = operation.payload.size();
    const std::uint32_t left = operation.remaining.load(std::memory_order_relaxed) - items;
    operation.remaining.store(left, std::memory_order_release);
    if (left != 0) return;
    open_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    open_.fetch_sub(1, std::memory_order_release);
    bell_.ring();
  }
  // Some rank has failed: wakes the worker, and ends its direct accesses to memory. Once.
  void rank_failed() LAPSE_REQUIRES(progress_role) {
    unanswered_.close();
    bell_.ring();
  }
  // Operations submitted and not yet answered in full, and the bytes they carry. Any thread.
  std::uint32_t open() const { return open_.load(std::memory_order_acquire); }
  std::uint64_t open_bytes() const { return open_bytes_.load(std::memory_order_acquire); }

  // Removes and returns the first failure of an operation without a handle. When open() is zero.
  std::unique_ptr<KeyFailure> take_failure();

  // The worker's one lease.
  LeaseRequest& lease_request() { return lease_request_; }

  UnansweredTable& unanswered() { return unanswered_; }
  const UnansweredTable& unanswered() const { return unanswered_; }
  Doorbell& bell() { return bell_; }
  // By table: the accesses of this worker without the engine.
  std::vector<TableCounters>& counters() { return counters_; }
  const std::vector<TableCounters>& counters() const { return counters_; }

 private:
  // constant
  std::uint32_t local_index_;
  // self-synchronised
  std::atomic<std::uint32_t> open_{0};
  std::atomic<std::uint64_t> open_bytes_{0};
  UnansweredTable unanswered_;
  Doorbell bell_;
  // Operations live in chunks that never move, as engines hold pointers to them.
  static constexpr std::size_t kChunk = 256;
  static constexpr std::size_t kMaxChunks = std::size_t{1} << 12;
  std::unique_ptr<std::atomic<OperationState*>[]> chunk_starts_ =
      std::make_unique<std::atomic<OperationState*>[]>(kMaxChunks);
  // the worker's
  std::vector<std::unique_ptr<OperationState[]>> chunks_;
  std::vector<OperationState*> free_;
  std::vector<OperationState*> detached_;  // released before they were finished
  std::vector<TableCounters> counters_;
  std::unique_ptr<KeyFailure> failure_;
  LeaseRequest lease_request_;

  // Makes finished operations that were released before available again.
  void reclaim();
  void make_free(OperationState& operation);
};

}  // namespace lapse
