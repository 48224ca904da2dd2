#include "lapse/protocol/records/replication_checks.hpp"

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/replication_records.hpp"
#include "lapse/protocol/table/table_copies.hpp"

namespace lapse {

namespace {
constexpr const char* kWrongLength = "a message about replicas has a wrong length";
}  // namespace

void check_copy_frame(const TableShard& table, const FrameHeader& header) {
  const auto kind = static_cast<FrameKind>(header.kind);
  if (header.domain < 0 || header.domain >= table.definition().domains.domains())
    throw ProtocolError("a message about replicas names a domain that does not exist");
  const bool of_domain = kind == FrameKind::want || kind == FrameKind::unwant;
  if (!of_domain && table.copies() == nullptr)
    throw ProtocolError("a message about replicas names a table that has none");
  const bool to_owner = kind == FrameKind::on || kind == FrameKind::delta || kind == FrameKind::off;
  if (to_owner && Domain(header.domain) == table.self_domain())
    throw ProtocolError("a message about replicas has reached the owner from its own domain");
  const bool plain = of_domain || kind == FrameKind::on || kind == FrameKind::offer ||
                     kind == FrameKind::refuse_copy || kind == FrameKind::acknowledge;
  if (plain ? header.record_bytes != sizeof(CopyRecord) : header.record_bytes < sizeof(VersionRecord))
    throw ProtocolError(kWrongLength);
}

void check_record_bytes(const FrameHeader& header, std::size_t bytes) {
  if (header.record_bytes != bytes) throw ProtocolError(kWrongLength);
}

std::uint64_t read_credit(const FrameHeader& header, const std::byte* records) {
  if (header.count == 0) throw ProtocolError("a message without a credit");
  return record_of<CreditRecord>(header, records, header.count - 1, kWrongLength).bytes;
}

KeyQueue::CopyMessage read_copy_message(TableShard& table, Key key, const FrameHeader& header,
                                        const std::byte* record) {
  const auto kind = static_cast<FrameKind>(header.kind);
  KeyQueue::CopyMessage message{.kind = kind, .from = Domain(header.domain)};
  if (kind == FrameKind::on) return message;
  const auto head = read_record<DeltaRecord>(record);
  message.bit = (head.flags & DeltaRecord::kBit) != 0;
  message.awaited = (head.flags & DeltaRecord::kAwaited) != 0;
  const bool is_empty = kind == FrameKind::off && header.record_bytes == sizeof head;
  if (is_empty) return message;
  const std::size_t bytes = padded_bytes(table.copies()->merger().delta_bytes(table.sizes().length(key)));
  check_record_bytes(header, sizeof head + bytes);
  message.delta_bytes = static_cast<std::uint32_t>(bytes);
  message.delta = record + sizeof head;
  return message;
}

}  // namespace lapse
