// The holder's side of replication: acts on the table of its replicas.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/key/key_owner.hpp"
#include "lapse/protocol/key/key_wants.hpp"
#include "lapse/protocol/key/lease_turns.hpp"
#include "lapse/protocol/key/operation_sender.hpp"
#include "lapse/protocol/key/replica_deltas.hpp"
#include "lapse/protocol/key/replica_messages.hpp"
#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/table/arrival_table.hpp"

namespace lapse {

class KeyRelocation;

// Handles keys that this rank serves, from the domain's first want to the end of its replica.
//
// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. At most one ON, DELTA or OFF of a domain about a key is unanswered; LOCALIZE waits for it, too.
// 2. Without credit (Credits), a DELTA is sent only if operations follow it.
class KeyHolder {
 public:
  using Clock = ArrivalTable::Clock;

  // `relocation` is used only once the rank's protocol is complete.
  KeyHolder(Rank self, ReplicaMessages& messages, ReplicaDeltas& deltas, const KeyWants& wants,
            KeyOwner& owner, OperationSender& sender, LeaseTurns& lease_turns, KeyRelocation& relocation)
      : self_(self),
        messages_(messages),
        deltas_(deltas),
        wants_(wants),
        owner_(owner),
        sender_(sender),
        lease_turns_(lease_turns),
        relocation_(relocation) {}

  // The domain begins (want) or ceases (unwant) to want the key (rules 12, 17).
  void want(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void unwant(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // A worker of the domain localizes a key of which this domain has a replica's record (rule 20). Notifies
  // `waiter`, if any.
  void localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At a replica: does what waited, if nothing is unanswered any more (rules 26 and 17). Called when an
  // operation has been queued, too.
  void advance(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);

  // --- messages of the owner

  void take_snapshot(TableShard& table, const VersionRecord& record, const std::byte* content, Domain owner,
                     Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void take_refresh(TableShard& table, const VersionRecord& record, const std::byte* content, Domain owner,
                    Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void take_offer(TableShard& table, Key key, bool to_member, Domain owner, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  void take_refusal(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void take_acknowledgement(TableShard& table, Key key, Domain owner, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

 private:
  void announce(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  void send_queue(TableShard& table, Key key, std::uint32_t number, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  void upgrade(TableShard& table, Key key, std::uint32_t number, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // Closes the replica's record and makes the key absent. Localizes that wait for the key begin.
  void close(TableShard& table, Key key, std::uint32_t number, bool localize, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  const Rank self_;
  ReplicaMessages& messages_;
  ReplicaDeltas& deltas_;
  const KeyWants& wants_;
  KeyOwner& owner_;
  OperationSender& sender_;
  LeaseTurns& lease_turns_;
  KeyRelocation& relocation_;
};

}  // namespace lapse
