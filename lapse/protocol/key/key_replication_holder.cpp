// KeyReplication: what owners send to holders.
#include "lapse/protocol/key/key_replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/protocol/key/key_relocation.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {

using Unanswered = Replica::Unanswered;

std::uint64_t nanoseconds_of(std::chrono::nanoseconds time) {
  return static_cast<std::uint64_t>(std::max(time, std::chrono::nanoseconds(0)).count());
}

void count_staleness(TableCounters& counters, std::uint64_t versions, std::chrono::nanoseconds age) {
  const std::uint64_t nanoseconds = nanoseconds_of(age);
  counters.missed_versions += versions;
  counters.missed_versions_max = std::max(counters.missed_versions_max, versions);
  counters.refresh_nanoseconds += nanoseconds;
  counters.refresh_max_nanoseconds = std::max(counters.refresh_max_nanoseconds, nanoseconds);
}

}  // namespace

// --- from the owner

void KeyReplication::take_snapshot(TableShard& table, const VersionRecord& record, const std::byte* content,
                                   Domain owner, Clock::time_point now) {
  const Key key(record.key);
  if (table.store().word(key).role() != Role::awaiting) throw_unexpected(table, key, "SNAPSHOT");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  Replica& replica = copies.replicas().at(number);
  copies.take_room(replica);
  const Slot slot{replica.slot, false};
  std::byte* const to = table.store().address(slot);
  // A REFRESH may have overtaken it.
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

void KeyReplication::take_refresh(TableShard& table, const VersionRecord& record, const std::byte* content,
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
  run_user_code(table.name(), key, registry_.self(), [&] {
    copies.keys().write(key, [&](std::byte* value) {
      copies.merger().refresh(value, copies.base(replica.base), content, table.sizes().length(key));
      SlotHead::set_version(value, record.version());
    });
  });
  TableCounters& counters = table.counters();
  ++counters.refreshes_in;
  const std::uint64_t missed = record.version() - before;
  count_staleness(counters, missed, now - replica.refreshed);
  if (replica.reads > 0) {
    counters.stale_versions += replica.reads * missed;
    counters.stale_versions_max = std::max(counters.stale_versions_max, missed);
    replica.reads = 0;
  }
  replica.owner = owner;
  replica.refreshed = now;
  if (!waits) return;
  copies.replicas().expect(replica, Unanswered::nothing);
  advance(table, key, now);
}

void KeyReplication::note_read(TableShard& table, Key key, Clock::time_point at) {
  if (direct_access(table.store().word(key).role(), false) != DirectAccess::copy) return;
  Replica& replica = table.copies()->replica(key);
  // Beyond this, only the times of reads count.
  if (replica.reads < std::numeric_limits<decltype(replica.reads)>::max()) ++replica.reads;
  TableCounters& counters = table.counters();
  const std::uint64_t nanoseconds = nanoseconds_of(at - replica.refreshed);
  ++counters.read_samples;
  counters.stale_nanoseconds += nanoseconds;
  counters.stale_max_nanoseconds = std::max(counters.stale_max_nanoseconds, nanoseconds);
}

void KeyReplication::take_offer(TableShard& table, Key key, bool to_member, Domain owner,
                                Clock::time_point now) {
  const Role role = table.store().word(key).role();
  if (to_member) {
    if (role != Role::awaiting && role != Role::replica) return;
    Replica& replica = table.copies()->replica(key);
    replica.offered = true;
    replica.owner = owner;
    if (role == Role::replica) advance(table, key, now);
    return;
  }
  if (role != Role::awaiting) throw_unexpected(table, key, "OFFER");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  Replica& replica = copies.replicas().at(number);
  if (replica.wanted || wants(table, key)) {
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
  std::byte* const record = append_to_owner(
      table, FrameKind::off, path_to_owner(table, key, owner, Entry::home), sizeof(DeltaRecord));
  const DeltaRecord head{key.value(), 0};
  std::memcpy(record, &head, sizeof head);
}

void KeyReplication::take_refusal(TableShard& table, Key key, Clock::time_point now) {
  if (table.store().word(key).role() != Role::awaiting) throw_unexpected(table, key, "the refusal of a copy");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  copies.release_room(copies.replicas().at(number));
  copies.keys().refuse(key);
  if (table.wanted().count(key) > 0) copies.refuse(key);
  ++table.counters().refused_copies;
  close(table, key, number, false, now);
}

void KeyReplication::take_acknowledgement(TableShard& table, Key key, Domain owner, Clock::time_point now) {
  if (table.store().word(key).role() != Role::closing) throw_unexpected(table, key, "ACK");
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  copies.keys().acknowledge(key, owner);
  close(table, key, number, false, now);
}

void KeyReplication::close(TableShard& table, Key key, std::uint32_t number, bool localize,
                           Clock::time_point now) {
  TableCopies& copies = *table.copies();
  const std::uint32_t arrival = copies.replicas().at(number).arrival;
  const bool wanted = copies.replicas().at(number).wanted;
  copies.replicas().close(number);
  std::vector<Waiter> waiters;
  std::vector<LeaseAsker> askers;
  if (arrival != Replica::kNone) {
    struct Collect {
      std::vector<LeaseAsker>& askers;
      void forward(const OperationPart&) {
        throw ProtocolError("an operation waits for a copy that is gone");
      }
      void forward(const CopyMessage&) { throw ProtocolError("a message waits for a copy that is gone"); }
      void ask_again(const LeaseAsker& asker) { askers.push_back(asker); }
    };
    waiters = table.arrivals().take_waiters(arrival);
    table.arrivals().queue(arrival).send_away(Collect{askers});
    table.arrivals().close(arrival);
  }
  for (const Waiter waiter : waiters) relocation_.localize_for(table, key, waiter, now);
  for (const LeaseAsker& asker : askers) lease_turns_.left(asker, table, key);
  if (acquisition(table.store().word(key).role()) != Acquisition::begin) return;
  if (localize || wanted) {
    if (relocation_.begin(table, key, Waiter(), now) && localize)
      throw ProtocolError("the room of a copy is not enough for the value");
  } else if (wants(table, key)) {
    want(table, key, now);
  }
}

}  // namespace lapse
