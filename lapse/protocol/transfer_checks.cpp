#include "lapse/protocol/transfer_checks.hpp"

#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/protocol/replication_records.hpp"

namespace lapse {

void check_transfer(const FrameHeader& header, std::size_t bytes) {
  if (header.record_bytes != sizeof(TransferRecord) + bytes)
    throw ProtocolError("a message transfers ownership of a key with a value of a wrong length");
}

void check_members(const TableShard& table, const FrameHeader& header, const TransferRecord& record,
                   const std::byte* bytes) {
  const std::size_t moved = table.sizes().moved_bytes(Key(record.key));
  const bool with_members = static_cast<FrameKind>(header.kind) == FrameKind::transfer_with_members;
  if (!with_members) {
    check_transfer(header, moved);
    if (record.members != 0) throw ProtocolError("a transfer names members that it lacks");
    return;
  }
  const std::size_t members = std::size_t{record.members} * sizeof(MemberRecord);
  check_transfer(header, padded_bytes(moved) + members);
  for (std::uint32_t i = 0; i < record.members; ++i) {
    MemberRecord member;
    std::memcpy(&member, bytes + sizeof record + padded_bytes(moved) + i * sizeof member, sizeof member);
    if (member.domain < 0 || member.domain >= table.definition().domains.domains() ||
        member.domain == table.self_domain().value())
      throw ProtocolError("a transfer names a member that cannot be one");
  }
}

}  // namespace lapse
