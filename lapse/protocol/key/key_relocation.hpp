// Moves one key: LOCALIZE, INSTRUCT, TRANSFER (Lapse paper, section 3.2), and REFUSE.
#pragma once

#include <cstdint>
#include <memory>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/key/access.hpp"
#include "lapse/protocol/key/key_replication.hpp"
#include "lapse/protocol/key/lease_turns.hpp"
#include "lapse/protocol/key/localize_answers.hpp"
#include "lapse/protocol/key/operation_sender.hpp"
#include "lapse/protocol/records/relocation_records.hpp"
#include "lapse/protocol/table/key_failure.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. The home orders all relocations of a key: it changes its table and instructs the old owner in one step.
// 2. The queue of a key that arrives is drained, in order, before its slot word gets the role owner (I3).
// 3. An INSTRUCT that reaches an arriving key queues with the operations. When its turn comes, the value is
//    transferred, and the operations queued after it are forwarded to the home, in order.
// 4. A leased key behaves like an arriving one; the end of the lease is the arrival.
// 5. At every moment at most one domain owns a key (I1): the old owner makes it absent in the step that
//    appends the TRANSFER.
// 6. An arriving key has memory for its value already: an arriving value never needs an allocation.
// 7. If the home cannot create a key, it changes nothing and answers LOCALIZE with REFUSE. The requester
//    becomes absent, sends the queued operations to the home, in order, and fails what waits for the key. No
//    INSTRUCT is queued then: the home sends one only to domains to which it has given the key.
class KeyRelocation {
 public:
  using Clock = ArrivalTable::Clock;

  KeyRelocation(const Registry& registry, Outbox& outbox, Access& access, OperationSender& sender,
                LocalizeAnswers& answers, LeaseTurns& lease_turns, KeyReplication& replication)
      : registry_(registry),
        outbox_(outbox),
        access_(access),
        sender_(sender),
        answers_(answers),
        lease_turns_(lease_turns),
        replication_(replication) {}

  // --- at the requester

  // Localizes a key that this rank serves. True if the key is local; otherwise `waiter` will be notified.
  bool localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // Like localize, except that it also notifies the waiter if the key is local.
  void localize_for(TableShard& table, Key key, Waiter waiter, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // Requests an absent key that this rank serves; notifies `waiter`, if any, when it has arrived. If this
  // rank cannot allocate memory for the key, returns the failure: nothing has changed, and the caller keeps
  // `waiter`.
  [[nodiscard]] std::unique_ptr<KeyFailure> begin(TableShard& table, Key key, Waiter waiter,
                                                  Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // For a key that is arriving or upgrading: sends LOCALIZE or, at the home, makes this domain the owner.
  void request(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Drains the queue of a key's arrival record. `slot` stores the value; no worker can access it before
  // draining has left the key open, leased or transferred.
  void drain(TableShard& table, Key key, std::uint32_t record, Slot slot, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // --- messages of other ranks about a key that this rank serves

  // At the home: handles the request of another domain; refuses it if the key cannot be created.
  void take_localize(TableShard& table, Key key, Domain requester, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the old owner.
  void instruct(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the new owner. `moved`: the bytes after the record.
  void arrive(TableShard& table, const TransferRecord& record, const std::byte* moved, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the requester: the home has refused the key.
  void take_refusal(TableShard& table, const KeyFailure& failure, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

 private:
  class Drain;

  // At the home: the second half of the step that changes its table.
  void instruct_owner(TableShard& table, Key key, Domain requester, OwnershipTable::Change change,
                      Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // After draining: publishes the key, open or leased, and notifies the waiters.
  void settle(TableShard& table, Key key, std::uint32_t record, Slot slot, LeaseState lease)
      LAPSE_REQUIRES(progress_role);
  // After the value was transferred: notifies the waiters and begins the pending re-localizes.
  void relocalize(TableShard& table, Key key, std::uint32_t record, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // Appends a TRANSFER. fill(std::byte*) writes value and rule state into it and then makes the slot word
  // absent. If fill returns false, or throws while the key is still local, the TRANSFER is not sent.
  template <class Fill>
  bool transfer(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Fill&& fill)
      LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  Access& access_;
  OperationSender& sender_;
  LocalizeAnswers& answers_;
  LeaseTurns& lease_turns_;
  KeyReplication& replication_;
};

}  // namespace lapse
