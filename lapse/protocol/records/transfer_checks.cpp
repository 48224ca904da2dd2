#include "lapse/protocol/records/transfer_checks.hpp"

#include <limits>
#include <utility>

#include "lapse/core/error.hpp"
#include "lapse/protocol/records/key_failure_records.hpp"
#include "lapse/protocol/records/replication_records.hpp"

namespace lapse {

namespace {

// The least and largest length that a record may have. A record with a value or a message has at least its
// head.
std::pair<std::size_t, std::size_t> record_lengths(FrameKind kind) {
  constexpr std::size_t kAny = std::numeric_limits<std::uint32_t>::max();
  switch (kind) {
    case FrameKind::localize:
      return {sizeof(LocalizeRecord), sizeof(LocalizeRecord)};
    case FrameKind::instruct:
      return {sizeof(InstructRecord), sizeof(InstructRecord)};
    case FrameKind::refuse:
      return {sizeof(KeyFailureRecord), kAny};
    default:
      return {sizeof(TransferRecord), kAny};
  }
}

}  // namespace

void check_relocation(const TableShard& table, const FrameHeader& header) {
  const auto [least, most] = record_lengths(static_cast<FrameKind>(header.kind));
  if (header.record_bytes < least || header.record_bytes > most || header.domain < 0 ||
      header.domain >= table.definition().domains.domains())
    throw ProtocolError(
        "a message about relocations has a wrong length or names a domain that does not exist");
}

void check_transfer(const FrameHeader& header, std::size_t bytes) {
  if (header.record_bytes != sizeof(TransferRecord) + bytes)
    throw ProtocolError("a message transfers ownership of a key with a value of a wrong length");
}

void check_no_members(const TransferRecord& record) {
  if (record.members != 0) throw ProtocolError("a transfer names holders that it lacks");
}

void check_members(const TableShard& table, const FrameHeader& header, const TransferRecord& record,
                   const std::byte* bytes) {
  const std::size_t moved = table.sizes().moved_bytes(Key(record.key));
  const bool with_members = static_cast<FrameKind>(header.kind) == FrameKind::transfer_with_members;
  if (!with_members) {
    check_transfer(header, moved);
    return check_no_members(record);
  }
  const std::size_t members = std::size_t{record.members} * sizeof(MemberRecord);
  check_transfer(header, padded_bytes(moved) + members);
  const std::byte* const first = bytes + sizeof record + padded_bytes(moved);
  const auto domain_of = [&](std::uint32_t number) {
    return read_record<MemberRecord>(first + number * sizeof(MemberRecord)).domain;
  };
  for (std::uint32_t i = 0; i < record.members; ++i) {
    const std::int32_t domain = domain_of(i);
    bool is_new = true;
    for (std::uint32_t before = 0; before < i; ++before) is_new = is_new && domain_of(before) != domain;
    if (!is_new || domain < 0 || domain >= table.definition().domains.domains() ||
        domain == table.self_domain().value())
      throw ProtocolError("a transfer names a holder that cannot be one");
  }
}

}  // namespace lapse
