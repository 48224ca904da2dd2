#include "lapse/protocol/key/key_holder.hpp"

#include <cstring>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/protocol/key/key_relocation.hpp"
#include "lapse/protocol/key/replica_staleness.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {

using Entry = ReplicaMessages::Entry;
using Unanswered = Replica::Unanswered;

// Takes what waits for a replica that ends: lease requests, and nothing else.
struct CollectAskers {
  std::vector<LeaseAsker>& askers;
  void forward(const auto&) { throw ProtocolError("an operation waits for a replica that is gone"); }
  void ask_again(const LeaseAsker& asker) { askers.push_back(asker); }
};

}  // namespace

void KeyHolder::want(TableShard& table, Key key, Clock::time_point now) {
  // In other roles, nothing else is done: the count has been raised.
  if (acquisition(table.store().word(key).role()) != Acquisition::begin || table.is_uninitialized(key))
    return;
  const ManagementPolicy::Wanted step = wants_.step_of(table, key);
  if (step == ManagementPolicy::Wanted::nothing) return;
  // An intent never fails a job: if out of memory, the key stays where it is.
  if (!table.has_room_for_wanted()) return KeyWants::decline(table, key);
  // A table without replicas can only relocate keys.
  if (step == ManagementPolicy::Wanted::announce && table.copies() != nullptr)
    return announce(table, key, now);
  if (relocation_.begin(table, key, Waiter(), now)) KeyWants::decline(table, key);
}

void KeyHolder::unwant(TableShard& table, Key key, Clock::time_point now) {
  if (table.copies() == nullptr) return;
  table.copies()->forget_refusal(key);
  const Role role = table.store().word(key).role();
  if (role == Role::owner) {
    owner_.check(table, key);
  } else if (role == Role::replica) {
    advance(table, key, now);
  }
}

void KeyHolder::announce(TableShard& table, Key key, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  if (copies.is_refused(key)) return;
  Replica replica{.key = key, .owner = {}, .refreshed = now, .unanswered = Unanswered::on};
  const Domain owner = table.definition()
                           .cache.look_up(table.store().word(key).hint())
                           .value_or(table.definition().homes.home(key));
  replica.owner = owner;
  const std::optional<std::uint32_t> number = copies.try_open(replica);
  if (!number) return KeyWants::decline(table, key);
  copies.keys().announce(key, *number);
  messages_.send_to_owner(table, FrameKind::on, messages_.path_to_owner(table, key, owner, Entry::any),
                          CopyRecord{key.value()});
}

void KeyHolder::localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  copies.replicas().at(number).wanted = true;
  const std::optional<std::uint32_t> arrival = table.arrival_record(key, now);
  if (waiter) table.arrivals().add_waiter(*arrival, waiter);
  if (table.store().word(key).role() == Role::replica) advance(table, key, now);
}

void KeyHolder::advance(TableShard& table, Key key, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  if (table.store().word(key).role() != Role::replica) return;
  const std::uint32_t number = copies.replica_number(key);
  if (copies.replicas().at(number).unanswered != Unanswered::nothing) return;
  if (copies.replicas().at(number).arrival != Replica::kNone) {
    send_queue(table, key, number, now);
    if (copies.replicas().at(number).unanswered != Unanswered::nothing) return;
  }
  Replica& replica = copies.replicas().at(number);
  if (replica.wanted || (replica.offered && KeyWants::wants(table, key))) {
    upgrade(table, key, number, now);
  } else if (!KeyWants::wants(table, key)) {
    replica.refreshed = now;
    deltas_.drop(table, key, number);
  }
}

void KeyHolder::send_queue(TableShard& table, Key key, std::uint32_t number, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  const std::uint32_t arrival = copies.replicas().at(number).arrival;
  KeyQueue& queue = table.arrivals().queue(arrival);
  if (queue.counts().operations == 0) return;
  // The path via the home keeps the order: the delta is merged before the first operation is executed.
  deltas_.send_delta(table, key, number,
                     messages_.path_to_owner(table, key, copies.replicas().at(number).owner, Entry::home));
  struct Send {
    KeyHolder& holder;
    TableShard& table;
    std::vector<LeaseAsker> askers = {};
    void forward(const OperationPart& part) LAPSE_REQUIRES(progress_role) {
      holder.sender_.forward_to_home(table, part);
    }
    void forward(const KeyQueue::CopyMessage&) {
      throw ProtocolError("a message about replicas waits at a replica");
    }
    void ask_again(const LeaseAsker& asker) { askers.push_back(asker); }
  } send{*this, table};
  queue.send_away(send);
  for (const LeaseAsker& asker : send.askers) queue.push(asker, now);
  if (queue.empty() && !table.arrivals().first_waiter(arrival)) {
    copies.replicas().at(number).arrival = Replica::kNone;
    table.arrivals().close(arrival);
  }
}

void KeyHolder::upgrade(TableShard& table, Key key, std::uint32_t number, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  Replica& replica = copies.replicas().at(number);
  if (replica.arrival == Replica::kNone) replica.arrival = table.arrivals().open(Waiter(), now);
  replica.wanted = false;
  replica.offered = false;
  copies.keys().upgrade(key);
  copies.replicas().expect(replica, Unanswered::localize);
  relocation_.request(table, key, now);
}

void KeyHolder::take_snapshot(TableShard& table, const VersionRecord& record, const std::byte* content,
                              Domain owner, Clock::time_point now) {
  const Key key(record.key);
  if (table.store().word(key).role() != Role::awaiting)
    ReplicaMessages::throw_unexpected(table, key, "SNAPSHOT");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  Replica& replica = copies.replicas().at(number);
  copies.take_room(replica);
  const Slot slot{replica.slot, false};
  std::byte* const to = table.store().address(slot);
  // A REFRESH may have overtaken the snapshot.
  if (SlotHead::version_of(to) < record.version()) {
    std::memcpy(to, content, table.content_bytes(key));
    SlotHead::set_version(to, record.version());
  }
  copies.merger().begin(to, copies.base(replica.base), table.sizes().length(key));
  SlotHead::of(to).record = number;
  replica.owner = owner;
  replica.refreshed = now;
  copies.replicas().expect(replica, Unanswered::nothing);
  replica.bit = false;
  copies.keys().show(key, slot);
  ++table.counters().copies_in;
  copies.sole_wants().count_shared();
  advance(table, key, now);
}

void KeyHolder::take_refresh(TableShard& table, const VersionRecord& record, const std::byte* content,
                             Domain owner, Clock::time_point now) {
  const Key key(record.key);
  const Role role = table.store().word(key).role();
  if (role == Role::awaiting) {
    Replica& replica = table.copies()->replica(key);
    table.copies()->take_room(replica);
    std::byte* const to = table.store().address({replica.slot, false});
    if (SlotHead::version_of(to) >= record.version()) return;
    std::memcpy(to, content, table.content_bytes(key));
    SlotHead::set_version(to, record.version());
    return;
  }
  if (direct_access(role, false) != DirectAccess::copy) return;
  TableCopies& copies = *table.copies();
  Replica& replica = copies.replica(key);
  std::byte* const slot = table.store().address({replica.slot, false});
  const std::uint64_t before = SlotHead::version_of(slot);
  if (before >= record.version()) return;
  const bool waits = replica.unanswered == Unanswered::delta;
  if (waits && record.bit() != replica.bit) return;
  run_user_code(table.name(), key, self_, [&] {
    copies.keys().write(key, [&](std::byte* value) {
      copies.merger().refresh(value, copies.base(replica.base), content, table.sizes().length(key));
      SlotHead::set_version(value, record.version());
    });
  });
  count_refresh(table, replica, record.version() - before, now);
  replica.owner = owner;
  replica.refreshed = now;
  if (!waits) return;
  copies.replicas().expect(replica, Unanswered::nothing);
  advance(table, key, now);
}

void KeyHolder::take_offer(TableShard& table, Key key, bool to_member, Domain owner, Clock::time_point now) {
  const Role role = table.store().word(key).role();
  if (to_member) {
    if (role != Role::awaiting && role != Role::replica) return;
    Replica& replica = table.copies()->replica(key);
    replica.offered = true;
    replica.owner = owner;
    if (role == Role::replica) advance(table, key, now);
    return;
  }
  if (role != Role::awaiting) ReplicaMessages::throw_unexpected(table, key, "OFFER");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  Replica& replica = copies.replicas().at(number);
  if (replica.wanted || KeyWants::wants(table, key)) {
    copies.release_room(replica);
    copies.keys().refuse(key);
    close(table, key, number, true, now);
    return;
  }
  ++table.counters().declined_copies;
  copies.keys().drop(key, number);
  replica.refreshed = now;
  copies.release_room(replica);
  copies.replicas().expect(replica, Unanswered::off);
  messages_.send_to_owner(table, FrameKind::off, messages_.path_to_owner(table, key, owner, Entry::home),
                          DeltaRecord{key.value(), 0});
}

void KeyHolder::take_refusal(TableShard& table, Key key, Clock::time_point now) {
  if (table.store().word(key).role() != Role::awaiting)
    ReplicaMessages::throw_unexpected(table, key, "the refusal of a copy");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  copies.release_room(copies.replicas().at(number));
  copies.keys().refuse(key);
  if (table.wanted().count(key) > 0) copies.refuse(key);
  ++table.counters().refused_copies;
  close(table, key, number, false, now);
}

void KeyHolder::take_acknowledgement(TableShard& table, Key key, Domain owner, Clock::time_point now) {
  if (table.store().word(key).role() != Role::closing) ReplicaMessages::throw_unexpected(table, key, "ACK");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  copies.keys().acknowledge(key, owner);
  close(table, key, number, false, now);
}

void KeyHolder::close(TableShard& table, Key key, std::uint32_t number, bool localize,
                      Clock::time_point now) {
  TableCopies& copies = *table.copies();
  const std::uint32_t arrival = copies.replicas().at(number).arrival;
  const bool wanted = copies.replicas().at(number).wanted;
  copies.replicas().close(number);
  std::vector<Waiter> waiters;
  std::vector<LeaseAsker> askers;
  if (arrival != Replica::kNone) {
    waiters = table.arrivals().take_waiters(arrival);
    table.arrivals().queue(arrival).send_away(CollectAskers{askers});
    table.arrivals().close(arrival);
  }
  for (const Waiter waiter : waiters) relocation_.localize_for(table, key, waiter, now);
  for (const LeaseAsker& asker : askers) lease_turns_.left(asker, table, key);
  if (acquisition(table.store().word(key).role()) != Acquisition::begin) return;
  if (localize || wanted) {
    if (relocation_.begin(table, key, Waiter(), now) && localize)
      throw ProtocolError("the space of a replica is too small for the value");
  } else if (KeyWants::wants(table, key)) {
    want(table, key, now);
  }
}

}  // namespace lapse
