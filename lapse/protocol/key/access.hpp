// Pull, push, set and call of keys that a worker could not access in memory: routing and answers.
#pragma once

#include <cstdint>
#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/key/execution.hpp"
#include "lapse/protocol/key/operation_sender.hpp"
#include "lapse/protocol/key/owner_lookups.hpp"
#include "lapse/protocol/key/run_routes.hpp"
#include "lapse/protocol/table/intent_source.hpp"
#include "lapse/protocol/table/remote_samples.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

class KeyHolder;

// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. The engine chooses the route of an operation and queues, sends or executes it in one step.
// 2. An operation is answered exactly once, to the rank it came from, by the rank that executes it (I2).
// 3. While a worker has an unanswered operation on a key, its next one on that key goes to the same entry
//    (I3, I4). When an answer has shown that entry to be out of date, the next one is held until the answers
//    have arrived.
// 4. While a worker's first operation on a key waits for the lookup of the key's owner, all operations of
//    that worker on the key wait after it, in program order, as if the worker made the calls later.
class Access : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::pull},
      {FrameKind::push},
      {FrameKind::set},
      {FrameKind::call},
      {FrameKind::pull_answer, FrameLane::free},
      {FrameKind::push_answer, FrameLane::free},
      {FrameKind::call_answer, FrameLane::free},
      {FrameKind::failed_answer, FrameLane::free},
      {FrameKind::pull_run},
      {FrameKind::push_run},
      {FrameKind::set_run},
      {FrameKind::pull_run_answer, FrameLane::free},
      {FrameKind::push_run_answer, FrameLane::free},
      {FrameKind::pull_elements},
      {FrameKind::push_elements},
      {FrameKind::pull_elements_answer, FrameLane::free},
  };

  Access(const Registry& registry, Outbox& outbox, const Router& router, OwnerLookups& lookups,
         OperationSender& sender, KeyHolder& holder)
      : registry_(registry),
        outbox_(outbox),
        router_(router),
        execution_(registry, outbox),
        sender_(sender),
        holder_(holder),
        lookups_(lookups) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  // Like handle_submission, for a piece of an operation that is being built: the items made from now on.
  // add_to_piece: called for at most `most` new items, in parts, as they are made. end_piece ends the piece.
  // All in one step of the engine. Further pieces may follow, each of which first sends the full packets: the
  // operation stays open until WorkerEndpoint::all_built. Throws std::bad_alloc if memory to choose routes
  // cannot be allocated: then refuse_piece must end the piece.
  void begin_piece(OperationState& operation, std::size_t most) LAPSE_REQUIRES(progress_role);
  // Like RunRoutes::add.
  void add_to_piece(std::span<OperationState::Item> items, const Store::Word* const* words)
      LAPSE_REQUIRES(progress_role) {
    if (piece_.in_runs) routes_.add(items, words);
  }
  // False if memory to choose routes could not be allocated: the items were answered without being sent, and
  // the operation has failed.
  bool end_piece(OperationState& operation) LAPSE_REQUIRES(progress_role);
  // Replaces end_piece for an operation that has failed: answers the items, none of which was sent.
  void refuse_piece(OperationState& operation) LAPSE_REQUIRES(progress_role) { answer_unsent(operation); }
  // The step of the engine ends before the operation is complete: the routes of its keys may change before
  // the next piece. Throws std::bad_alloc.
  static void part_ways(OperationState& operation) LAPSE_REQUIRES(progress_role);
  // Reports the keys that workers have accessed in other domains, where a table wants them.
  void end_turn() override LAPSE_REQUIRES(progress_role);
  // Before the first phase. Outlives its use.
  void set_wants(WantSink& wants) { wants_ = &wants; }
  // Between phases. Outlives its use; null: none.
  void set_source(IntentSource* source) { source_ = source; }
  // True if no operation waits for a route.
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return held_ == 0; }

  // Executes a queued operation on `content`: the value has just arrived, or its lease has ended.
  void execute_waiting(TableShard& table, const OperationPart& part, std::byte* content)
      LAPSE_REQUIRES(progress_role);

  // A lookup of a key's owner has finished: submits the operations that waited for it.
  void finish_lookup(const RemoteReads::Finished& read) LAPSE_REQUIRES(progress_role);

 private:
  // Collects the answered items of one operation; its destructor counts them and notifies the worker.
  class AnsweredItems;

  // The piece that is being submitted.
  struct Piece {
    std::size_t first_item = 0;
    bool in_runs = false;
  };

  void begin(OperationState& operation, const Piece& piece, std::size_t most) LAPSE_REQUIRES(progress_role);
  void answer_unsent(OperationState& operation) LAPSE_REQUIRES(progress_role);
  // `may_look_up`: unless the item has waited for a lookup already.
  void submit_item(OperationState& operation, std::uint32_t index, bool may_look_up = true)
      LAPSE_REQUIRES(progress_role);
  // Counts an operation of which an item is sent to another rank.
  static void count_remote(OperationState& operation) LAPSE_REQUIRES(progress_role) {
    if (operation.is_remote) return;
    operation.is_remote = true;
    ++operation.table->counters().remote_operations;
  }
  // Accesses of a worker to `count` keys are sent to another domain; key_at returns each of them.
  template <class KeyAt>
  void sample_remote(const OperationState& operation, std::uint32_t count, KeyAt&& key_at)
      LAPSE_REQUIRES(progress_role) {
    if (source_ == nullptr || !source_->counts_remote(operation.worker->local_index())) return;
    samples_.take(
        count, [this] { return now(); },
        [&](std::uint32_t index, std::uint64_t weight) {
          progress_role.assert_held();  // Called in place.
          count_remote(operation, key_at(index), weight);
        });
  }
  void count_remote(const OperationState& operation, Key key, std::uint64_t weight)
      LAPSE_REQUIRES(progress_role);
  // An access of a worker to the key is sent to another domain.
  void note_access(TableShard& table, Key key) LAPSE_REQUIRES(progress_role) {
    AccessedKeys* const accessed = table.accessed();
    if (accessed == nullptr) [[likely]]
      return;
    accessed->note(key);
    if (accessed->any_new()) request_end_turn();
  }
  // Holds back an operation of a worker, and with it all later ones of the worker on the key.
  void hold(OperationState& operation, std::uint32_t index) LAPSE_REQUIRES(progress_role);
  // Submits the held operations, in program order.
  void resume(PinnedKey& pinned, bool may_look_up) LAPSE_REQUIRES(progress_role);
  // At a replica of this domain: whether an operation of one of the domain's workers, which the main copy
  // must execute, waits until the replica's changes can be sent before it (rule 26).
  static bool waits_at_replica(TableShard& table, const OperationPart& part) LAPSE_REQUIRES(progress_role);
  // Throws ProtocolError, before anything is applied, unless each record answers an item in flight.
  static void check_answers(OperationState& operation, const FrameHeader& header, const std::byte* records)
      LAPSE_REQUIRES(progress_role);
  // An answer has arrived with this version of the main copy: the worker must not use an older replica in
  // this domain (rule 25).
  static void note_version(const OperationState& operation, Key key, std::uint64_t version)
      LAPSE_REQUIRES(progress_role);
  // Queues the operation until the key arrives or its lease ends. False if the lease has ended already.
  bool queue(TableShard& table, const OperationPart& part) LAPSE_REQUIRES(progress_role);

  // Handles an operation that arrived in a message.
  void take(TableShard& table, const OperationPart& part, bool by_home) LAPSE_REQUIRES(progress_role);
  void handle_operations(const FrameHeader& header, const std::byte* records) LAPSE_REQUIRES(progress_role);
  void handle_answers(const FrameHeader& header, const std::byte* records) LAPSE_REQUIRES(progress_role);

  // --- runs of keys (access_runs.cpp)

  // Whether the keys of the operation may travel in runs.
  bool may_run(const OperationState& operation) const LAPSE_REQUIRES(progress_role);
  // Like end_piece, for keys that may travel in runs.
  bool send_piece(OperationState& operation) LAPSE_REQUIRES(progress_role);
  void send_run(OperationState& operation, const RunRoutes::Bucket& bucket) LAPSE_REQUIRES(progress_role);
  void handle_run(Rank from, const FrameHeader& header, const std::byte* records)
      LAPSE_REQUIRES(progress_role);
  // Executes and answers the first keys, up to one that is not local and open; returns their number.
  std::uint32_t execute_run(TableShard& table, const OperationPart& first, std::span<const Key> keys)
      LAPSE_REQUIRES(progress_role);
  void handle_run_answers(const FrameHeader& header, const std::byte* records) LAPSE_REQUIRES(progress_role);

  // Returns the operation of this rank that `part` belongs to; null if it came from another rank. Throws
  // ProtocolError if the operation does not wait for the key.
  OperationState* own_operation(const TableShard& table, const OperationPart& part) const
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  const Router& router_;
  Execution execution_;
  OperationSender& sender_;
  KeyHolder& holder_;
  RunRoutes routes_ LAPSE_GUARDED_BY(progress_role);
  Piece piece_ LAPSE_GUARDED_BY(progress_role);
  OwnerLookups& lookups_;
  WantSink* wants_ = nullptr;
  IntentSource* source_ = nullptr;
  RemoteSamples samples_ LAPSE_GUARDED_BY(progress_role);
  std::uint64_t held_ LAPSE_GUARDED_BY(progress_role) = 0;
};

}  // namespace lapse
