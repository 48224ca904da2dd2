// Moving one key: LOCALIZE, INSTRUCT, TRANSFER (Lapse paper, section 3.2), and REFUSE.
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

// At the home: throws ProtocolError where the domain that localizes the key owns it.
void check_requester(const TableShard& table, Key key, Domain requester, Domain owner);

// Thread safety: the holder of the progress lock.
//
// Invariants:
// 1. The home orders all relocations of a key: changing its table and instructing the old owner are one step.
// 2. The queue of a key that arrives is drained, in order, before its slot word gets the role owner (I3).
// 3. An INSTRUCT that reaches an arriving key queues with the operations; when its turn comes, the value is
//    transferred, and the operations queued behind it are forwarded to the home, in order.
// 4. A leased key behaves like an arriving one; the end of the lease is the arrival.
// 5. At every moment at most one domain owns a key (I1): the old owner makes it absent in the step that
//    appends the TRANSFER.
// 6. A key that is arriving has room for its value already: a value that comes is never without memory.
// 7. Where the home cannot make a key, it changes nothing and answers LOCALIZE with REFUSE. The requester
//    becomes absent, sends the queued operations to the home, in order, and fails what waits for the key. No
//    INSTRUCT is queued then: the home sends one to domains only to which it has given the key.
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

  // Localizes a key that this rank serves. True when the key is local; otherwise `waiter` will be notified.
  bool localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // As localize; notifies the waiter where the key is local.
  void localize_for(TableShard& table, Key key, Waiter waiter, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // Requests an absent key that this rank serves; `waiter`, if there is one, is notified when it has arrived.
  // Where this rank has no room for the key, returns the failure: nothing has changed, and `waiter` is the
  // caller's.
  [[nodiscard]] std::unique_ptr<KeyFailure> begin(TableShard& table, Key key, Waiter waiter,
                                                  Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Sends LOCALIZE, or makes this domain the owner where it is the home: for a key that is arriving, or
  // upgrading.
  void request(TableShard& table, Key key, Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // Drains the queue of a key's arrival record. The value is stored in `slot`; no worker can access it before
  // draining has left the key open, leased or transferred.
  void drain(TableShard& table, Key key, std::uint32_t record, Slot slot, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // --- what other ranks send about a key that this rank serves

  // At the home: the request of another domain, which is refused where the key cannot be made.
  void take_localize(TableShard& table, Key key, Domain requester, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the old owner.
  void instruct(TableShard& table, Key key, const KeyQueue::Instruct& instruct, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the new owner; `moved`: what stands behind the record.
  void arrive(TableShard& table, const TransferRecord& record, const std::byte* moved, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);
  // At the requester: the home has refused the key.
  void take_refusal(TableShard& table, const KeyFailure& failure, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

 private:
  class Drain;

  // At the home: the second half of the step that has changed its table.
  void instruct_owner(TableShard& table, Key key, Domain requester, OwnershipTable::Change change,
                      Clock::time_point now) LAPSE_REQUIRES(progress_role);
  // After draining: publishes the key, open or leased, and notifies the waiters.
  void settle(TableShard& table, Key key, std::uint32_t record, Slot slot, LeaseState lease)
      LAPSE_REQUIRES(progress_role);
  // After the value was transferred: notifies the waiters, and begins the pending re-localizes.
  void relocalize(TableShard& table, Key key, std::uint32_t record, Clock::time_point now)
      LAPSE_REQUIRES(progress_role);

  // Appends a TRANSFER. fill(std::byte*) writes value and rule state into it, and then makes the slot word
  // absent. The TRANSFER is not sent when fill returns false, or throws while the key is still local.
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
