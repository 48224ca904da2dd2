#include "lapse/protocol/key/replica_deltas.hpp"

#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {

using Entry = ReplicaMessages::Entry;
using Unanswered = Replica::Unanswered;

}  // namespace

bool ReplicaDeltas::send_delta(TableShard& table, Key key, std::uint32_t number, const Path& path) {
  TableCopies& copies = *table.copies();
  Replica& replica = copies.replicas().at(number);
  const std::size_t elements = table.sizes().length(key);
  const std::size_t bytes = sizeof(DeltaRecord) + padded_bytes(copies.merger().delta_bytes(elements));
  std::byte* const record = messages_.append_to_owner(table, FrameKind::delta, path, bytes);
  bool changed = false;
  copies.keys().inspect(key, [&](std::byte* content) {
    changed = copies.merger().take_delta(content, copies.base(replica.base), record + sizeof(DeltaRecord),
                                         elements);
  });
  if (!changed) {
    copies.replicas().unmark(replica);
    messages_.outbox().cancel();
    return false;
  }
  replica.bit = !replica.bit;
  copies.replicas().expect(replica, Unanswered::delta);
  const std::uint64_t flags = (replica.bit ? DeltaRecord::kBit : 0) | (awaited_ ? DeltaRecord::kAwaited : 0);
  write_record(record, DeltaRecord{key.value(), flags});
  messages_.credits().add_sent(path.to, bytes);
  ++table.counters().deltas_out;
  return true;
}

bool ReplicaDeltas::send_marked(TableShard& table, std::uint32_t number) {
  TableCopies& copies = *table.copies();
  Replica& replica = copies.replicas().at(number);
  const Key key = replica.key;
  // Nothing queues at a replica that has no unanswered message: advance sends the queue at once (rule 26).
  if (replica.unanswered == Unanswered::nothing && table.store().word(key).role() == Role::replica) {
    const Path path = messages_.path_to_owner(table, key, replica.owner, Entry::any);
    if (messages_.credits().has(path.to, awaited_)) {
      send_delta(table, key, number, path);
      return true;
    }
    waits_for_credit_ = true;
  }
  copies.replicas().mark(replica);
  return false;
}

void ReplicaDeltas::drop(TableShard& table, Key key, std::uint32_t number) {
  TableCopies& copies = *table.copies();
  const std::size_t elements = table.sizes().length(key);
  const std::size_t delta_bytes = copies.merger().delta_bytes(elements);
  const Path path = messages_.path_to_owner(table, key, copies.replicas().at(number).owner, Entry::home);
  std::byte* const record =
      messages_.append_to_owner(table, FrameKind::off, path, sizeof(DeltaRecord) + padded_bytes(delta_bytes));
  const DeltaRecord head{key.value(), 0};
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
    messages_.outbox().cancel();
    return messages_.send_to_owner(table, FrameKind::off, path, head);
  }
  write_record(record, head);
}

}  // namespace lapse
