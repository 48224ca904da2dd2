// KeyReplication: wants, the side of holders, and messages.
#include "lapse/protocol/key/key_replication.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/user_code.hpp"
#include "lapse/protocol/key/key_relocation.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {

using Unanswered = Replica::Unanswered;

}  // namespace

void KeyReplication::throw_unexpected(const TableShard& table, Key key, std::string_view message) {
  throw ProtocolError(fmt::format("{} for key {} of table '{}' has come to domain {}, where it is {}",
                                  message, key.value(), table.name(), table.self_domain().value(),
                                  role_name(table.store().word(key).role())));
}

// --- wants

bool KeyReplication::wants(const TableShard& table, Key key) {
  const TableCopies* const copies = table.copies();
  return table.wanted().count(key) > 0 && !(copies != nullptr && copies->is_refused(key));
}

void KeyReplication::want(TableShard& table, Key key, Clock::time_point now) {
  // Other roles note it only: the count has been raised.
  if (acquisition(table.store().word(key).role()) != Acquisition::begin || table.is_uninitialized(key))
    return;
  const ManagementPolicy::Wanted step = step_of(table, key);
  if (step == ManagementPolicy::Wanted::nothing) return;
  // An intent never fails a job: where there is no room, the key stays where it is.
  if (!table.has_room_for_wanted()) return decline(table, key);
  // A table without copies can only be relocated.
  if (step == ManagementPolicy::Wanted::announce && table.copies() != nullptr)
    return announce(table, key, now);
  if (relocation_.begin(table, key, Waiter(), now)) decline(table, key);
}

void KeyReplication::decline(TableShard& table, Key key) {
  if (table.copies() != nullptr) table.copies()->refuse(key);
  ++table.counters().declined_copies;
}

void KeyReplication::unwant(TableShard& table, Key key, Clock::time_point now) {
  if (table.copies() == nullptr) return;
  table.copies()->forget_refusal(key);
  const Role role = table.store().word(key).role();
  if (role == Role::owner) {
    check(table, key, nullptr);
  } else if (role == Role::replica) {
    advance(table, key, now);
  }
}

void KeyReplication::announce(TableShard& table, Key key, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  if (copies.is_refused(key)) return;
  Replica replica{.key = key, .owner = {}, .refreshed = now, .unanswered = Unanswered::on};
  const Domain owner = table.definition()
                           .cache.look_up(table.store().word(key).hint())
                           .value_or(table.definition().homes.home(key));
  replica.owner = owner;
  const std::optional<std::uint32_t> number = copies.try_open(replica);
  if (!number) return decline(table, key);
  copies.keys().announce(key, *number);
  std::byte* const record =
      append_to_owner(table, FrameKind::on, path_to_owner(table, key, owner, Entry::any), sizeof(CopyRecord));
  const CopyRecord head{key.value()};
  std::memcpy(record, &head, sizeof head);
}

void KeyReplication::localize(TableShard& table, Key key, Waiter waiter, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  const std::uint32_t number = copies.replica_number(key);
  copies.replicas().at(number).wanted = true;
  const std::optional<std::uint32_t> arrival = table.arrival_record(key);
  if (waiter) table.arrivals().add_waiter(*arrival, waiter);
  if (table.store().word(key).role() == Role::replica) advance(table, key, now);
}

// --- holder

void KeyReplication::advance(TableShard& table, Key key, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  if (table.store().word(key).role() != Role::replica) return;
  const std::uint32_t number = copies.replica_number(key);
  if (copies.replicas().at(number).unanswered != Unanswered::nothing) return;
  if (copies.replicas().at(number).arrival != Replica::kNone) {
    send_queue(table, key, number);
    if (copies.replicas().at(number).unanswered != Unanswered::nothing) return;
  }
  Replica& replica = copies.replicas().at(number);
  if (replica.wanted || (replica.offered && wants(table, key))) {
    upgrade(table, key, number, now);
  } else if (!wants(table, key)) {
    replica.refreshed = now;
    drop(table, key, number);
  }
}

void KeyReplication::send_queue(TableShard& table, Key key, std::uint32_t number) {
  TableCopies& copies = *table.copies();
  const std::uint32_t arrival = copies.replicas().at(number).arrival;
  KeyQueue& queue = table.arrivals().queue(arrival);
  if (queue.counts().operations == 0) return;
  // The home path is in order: the delta is merged before the first operation is executed.
  send_delta(table, key, number, path_to_owner(table, key, copies.replicas().at(number).owner, Entry::home));
  struct Send {
    KeyReplication& replication;
    TableShard& table;
    std::vector<LeaseAsker> askers = {};
    void forward(const OperationPart& part) LAPSE_REQUIRES(progress_role) {
      replication.access_.forward_to_home(table, part);
    }
    void forward(const CopyMessage&) { throw ProtocolError("a message about copies waits at a replica"); }
    void ask_again(const LeaseAsker& asker) { askers.push_back(asker); }
  } send{*this, table};
  queue.send_away(send);
  for (const LeaseAsker& asker : send.askers) queue.push(asker, Clock::now());
  if (queue.empty() && !table.arrivals().first_waiter(arrival)) {
    copies.replicas().at(number).arrival = Replica::kNone;
    table.arrivals().close(arrival);
  }
}

void KeyReplication::upgrade(TableShard& table, Key key, std::uint32_t number, Clock::time_point now) {
  TableCopies& copies = *table.copies();
  Replica& replica = copies.replicas().at(number);
  if (replica.arrival == Replica::kNone) replica.arrival = table.arrivals().open(Waiter(), now);
  replica.wanted = false;
  replica.offered = false;
  copies.keys().upgrade(key);
  copies.replicas().expect(replica, Unanswered::localize);
  relocation_.request(table, key, now);
}

void KeyReplication::drop(TableShard& table, Key key, std::uint32_t number) {
  TableCopies& copies = *table.copies();
  const std::size_t elements = table.sizes().length(key);
  const std::size_t delta_bytes = copies.merger().delta_bytes(elements);
  const Path path = path_to_owner(table, key, copies.replicas().at(number).owner, Entry::home);
  std::byte* record =
      append_to_owner(table, FrameKind::off, path, sizeof(DeltaRecord) + padded_bytes(delta_bytes));
  Replica& replica = copies.replicas().at(number);
  bool changed = false;
  copies.keys().drop(key, number, [&](std::byte* content) {
    changed = copies.merger().take_delta(content, copies.base(replica.base), record + sizeof(DeltaRecord),
                                         elements);
    SlotHead::of(content).record = SlotHead::kNoRecord;
  });
  copies.release_room(replica, false);
  copies.replicas().expect(replica, Unanswered::off);
  if (!changed) {
    outbox_.cancel();
    record = append_to_owner(table, FrameKind::off, path, sizeof(DeltaRecord));
  }
  const DeltaRecord head{key.value(), 0};
  std::memcpy(record, &head, sizeof head);
}

bool KeyReplication::send_delta(TableShard& table, Key key, std::uint32_t number, const Path& path) {
  TableCopies& copies = *table.copies();
  Replica& replica = copies.replicas().at(number);
  const std::size_t elements = table.sizes().length(key);
  const std::size_t bytes = sizeof(DeltaRecord) + padded_bytes(copies.merger().delta_bytes(elements));
  std::byte* const record = append_to_owner(table, FrameKind::delta, path, bytes);
  bool changed = false;
  copies.keys().inspect(key, [&](std::byte* content) {
    changed = copies.merger().take_delta(content, copies.base(replica.base), record + sizeof(DeltaRecord),
                                         elements);
  });
  if (!changed) {
    copies.replicas().unmark(replica);
    outbox_.cancel();
    return false;
  }
  replica.bit = !replica.bit;
  copies.replicas().expect(replica, Unanswered::delta);
  const DeltaRecord head{
      key.value(), (replica.bit ? DeltaRecord::kBit : 0) | (deltas_awaited_ ? DeltaRecord::kAwaited : 0)};
  std::memcpy(record, &head, sizeof head);
  credits_.add_sent(path.to, bytes);
  ++table.counters().deltas_out;
  return true;
}

bool KeyReplication::send_marked(TableShard& table, std::uint32_t number) {
  TableCopies& copies = *table.copies();
  Replica& replica = copies.replicas().at(number);
  const Key key = replica.key;
  // Nothing queues at a replica of which nothing is unanswered: advance sends the queue at once (rule 26).
  if (replica.unanswered == Unanswered::nothing && table.store().word(key).role() == Role::replica) {
    const Path path = path_to_owner(table, key, replica.owner, Entry::any);
    if (credits_.has(path.to, deltas_awaited_)) {
      send_delta(table, key, number, path);
      return true;
    }
    deltas_wait_for_credit_ = true;
  }
  copies.replicas().mark(replica);
  return false;
}

// --- messages

KeyReplication::Path KeyReplication::path_to_owner(TableShard& table, Key key, Domain owner,
                                                   Entry entry) const {
  const Domain self = table.self_domain();
  Domain to = table.definition().homes.home(key);
  bool by_home = false;
  if (to == self) {
    to = table.view(key).owner_by_table;
    by_home = true;
  } else if (entry == Entry::any && owner != self && table.definition().cache.enabled()) {
    to = owner;
  }
  return {table.serving_rank(key, to), by_home};
}

std::byte* KeyReplication::append_to_owner(TableShard& table, FrameKind kind, const Path& path,
                                           std::size_t bytes) {
  return outbox_.append(path.to, copy_header(kind, table, table.self_domain(), bytes, path.by_home));
}

void KeyReplication::send_record(TableShard& table, FrameKind kind, Key key, Domain to, std::uint16_t flags) {
  FrameHeader header = copy_header(kind, table, table.self_domain(), sizeof(CopyRecord));
  header.flags = flags;
  outbox_.append_record(table.serving_rank(key, to), header, CopyRecord{key.value()});
}

void KeyReplication::forward_to_home(TableShard& table, Key key, const CopyMessage& message) {
  const Route route = router_.route_received(table.view(key), false);
  if (route.action != Route::Action::send) throw_unexpected(table, key, "a message about copies");
  const std::size_t body = message.kind == FrameKind::on ? sizeof(CopyRecord) : sizeof(DeltaRecord);
  const Rank to = table.serving_rank(key, route.to);
  const std::size_t bytes = body + padded_bytes(message.delta_bytes);
  std::byte* const record =
      outbox_.append(to, copy_header(message.kind, table, message.from, bytes, route.by_home));
  // Without credit as well: it was sent with credit, and each domain has one DELTA of a key in flight.
  if (message.kind == FrameKind::delta) credits_.add_sent(to, bytes);
  const DeltaRecord head{key.value(), (message.bit ? DeltaRecord::kBit : 0) | DeltaRecord::kAwaited};
  std::memcpy(record, &head, body);
  if (message.delta_bytes != 0) std::memcpy(record + body, message.delta, message.delta_bytes);
  ++table.counters().forwarded;
}

}  // namespace lapse
