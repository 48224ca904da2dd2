// Leases: exclusive access of one worker to keys.
#pragma once

#include <span>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/key/key_relocation.hpp"
#include "lapse/protocol/key/lease_turns.hpp"
#include "lapse/protocol/table/key_failure.hpp"
#include "lapse/protocol/worker/lease_request.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// lease_request: this. lease_grant and lease_release: this, then value and rule state if they are in memory
// that only the serving rank can address. lease_refused: a KeyFailureRecord.
struct LeaseRecord {
  std::uint64_t key = 0;
};
static_assert(sizeof(LeaseRecord) == 8);

// A request gets its keys one by one, in ascending order of table and key. It waits for each key where
// operations wait, too: for the key's arrival, or after the lease of another worker. A key that another rank
// of the domain serves is leased directly in shared memory if it is stored there and not leased. Otherwise
// the request is sent to the serving rank, which grants the lease when its turn comes.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. A request that waits for a key holds only smaller keys, and a request that holds all its keys waits for
//    nothing. So among the requests of all ranks, some request always makes progress.
// 2. A request that localizes an absent key is queued for its arrival before any INSTRUCT: the key cannot
//    leave before the request has had its turn. A request that joins an arrival later may be queued after an
//    INSTRUCT; it is then repeated after the key has left.
class Leases final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::lease_request},
      {FrameKind::lease_grant, FrameLane::free},
      {FrameKind::lease_refused, FrameLane::free},
      {FrameKind::lease_release},
  };

  Leases(const Registry& registry, Outbox& outbox, KeyRelocation& relocation, LeaseTurns& turns)
      : registry_(registry), outbox_(outbox), relocation_(relocation), turns_(turns) {
    turns.set_listener([this] {
      progress_role.assert_held();  // The holder of the lock adds turns.
      request_end_turn();
    });
  }

  std::span<const FrameSpec> frames() const override { return kFrames; }
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  // Advances the requests that have had their turn.
  void end_turn() override LAPSE_REQUIRES(progress_role);
  // Relocation reports the requests that wait for keys.
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return turns_.empty(); }

 private:
  // Advances the request until it holds all its keys, waits for a key, or fails and holds no key.
  void advance(LeaseRequest& request) LAPSE_REQUIRES(progress_role);
  void fail(LeaseRequest& request, const KeyFailure& failure) LAPSE_REQUIRES(progress_role);
  void fail(const LeaseAsker& asker, const TableShard& table, const KeyFailure& failure)
      LAPSE_REQUIRES(progress_role);
  void release(LeaseRequest& request) LAPSE_REQUIRES(progress_role);
  static void finish(LeaseRequest& request) LAPSE_REQUIRES(progress_role);

  // For a key that this rank serves: true if the key is now leased to `asker`. Otherwise `asker` is queued
  // or, if the key cannot be allocated, has its turn at the end of the engine's turn.
  bool acquire(TableShard& table, Key key, const LeaseAsker& asker) LAPSE_REQUIRES(progress_role);
  void release_key(TableShard& table, Key key) LAPSE_REQUIRES(progress_role);
  // Sends a record to another rank of the domain, with value and optimizer state if `content` is given.
  void send(FrameKind kind, Rank to, const TableShard& table, Key key, std::uint64_t worker,
            const std::byte* content) LAPSE_REQUIRES(progress_role);
  void send_grant(const LeaseAsker& asker, const TableShard& table, Key key) LAPSE_REQUIRES(progress_role);

  // Returns the request of this rank that waits for the key of a grant or refusal.
  LeaseRequest& waiting_request(const FrameHeader& header, const LeaseRequest::Item& item) const
      LAPSE_REQUIRES(progress_role);
  void take_grant(const FrameHeader& header, const std::byte* record) LAPSE_REQUIRES(progress_role);
  void take_release(TableShard& table, Key key, const FrameHeader& header, const std::byte* record)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  KeyRelocation& relocation_;
  LeaseTurns& turns_;
};

}  // namespace lapse
