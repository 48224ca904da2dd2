#include "lapse/protocol/key/replica_messages.hpp"

#include <fmt/format.h>

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/core/role_table.hpp"
#include "lapse/protocol/records/replication_records.hpp"

namespace lapse {

void ReplicaMessages::throw_unexpected(const TableShard& table, Key key, std::string_view message) {
  throw ProtocolError(fmt::format("{} for key {} of table '{}' has arrived at domain {}, where it is {}",
                                  message, key.value(), table.name(), table.self_domain().value(),
                                  role_name(table.store().word(key).role())));
}

ReplicaMessages::Path ReplicaMessages::path_to_owner(TableShard& table, Key key, Domain owner,
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

std::byte* ReplicaMessages::append_to_owner(TableShard& table, FrameKind kind, const Path& path,
                                            std::size_t bytes) {
  return outbox_.append(path.to, copy_header(kind, table, table.self_domain(), bytes, path.by_home));
}

void ReplicaMessages::send_record(TableShard& table, FrameKind kind, Key key, Domain to,
                                  std::uint16_t flags) {
  FrameHeader header = copy_header(kind, table, table.self_domain(), sizeof(CopyRecord));
  header.flags = flags;
  outbox_.append_record(table.serving_rank(key, to), header, CopyRecord{key.value()});
}

void ReplicaMessages::forward_to_home(TableShard& table, Key key, const CopyMessage& message) {
  const Route route = router_.route_received(table.view(key), false);
  if (route.action != Route::Action::send) throw_unexpected(table, key, "a message about replicas");
  const std::size_t body = message.kind == FrameKind::on ? sizeof(CopyRecord) : sizeof(DeltaRecord);
  const Rank to = table.serving_rank(key, route.to);
  const std::size_t bytes = body + padded_bytes(message.delta_bytes);
  std::byte* const record =
      outbox_.append(to, copy_header(message.kind, table, message.from, bytes, route.by_home));
  // No credit is needed: it was sent with credit, and each domain has one DELTA of a key in flight.
  if (message.kind == FrameKind::delta) credits_.add_sent(to, bytes);
  const DeltaRecord head{key.value(), (message.bit ? DeltaRecord::kBit : 0) | DeltaRecord::kAwaited};
  std::memcpy(record, &head, body);
  if (message.delta_bytes != 0) std::memcpy(record + body, message.delta, message.delta_bytes);
  ++table.counters().forwarded;
}

}  // namespace lapse
