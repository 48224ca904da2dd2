// The format of messages about relocations. Drawn in docs/wire-format.md.
#pragma once

#include <cstdint>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// localize, and localize_for within a domain.
struct LocalizeRecord {
  std::uint64_t key = 0;
};
static_assert(sizeof(LocalizeRecord) == 8);

struct InstructRecord {
  std::uint64_t key = 0;
  std::uint32_t relocations = 0;  // how often the key has moved, including this time
  std::uint32_t padding = 0;
};
static_assert(sizeof(InstructRecord) == 16);

// transfer: this, then the value's elements and the state of the update rule; before them, in tables that may
// have replicas, the head of the slot. transfer_with_members: see replication_records.hpp.
struct TransferRecord {
  std::uint64_t key = 0;
  std::uint32_t relocations = 0;
  std::uint32_t members = 0;  // transfer: 0
};
static_assert(sizeof(TransferRecord) == 16);

// `domain`: as the frame's kind requires (see FrameHeader).
inline FrameHeader relocation_header(FrameKind kind, const TableShard& table, Domain domain) {
  FrameHeader header = FrameHeader::of(kind, table.id().value());
  header.domain = domain.value();
  return header;
}
// TRANSFER names no domain. `bytes`: after the record.
inline FrameHeader transfer_header(const TableShard& table, std::size_t bytes,
                                   FrameKind kind = FrameKind::transfer) {
  FrameHeader header = relocation_header(kind, table, Domain(0));
  header.record_bytes = static_cast<std::uint32_t>(sizeof(TransferRecord) + bytes);
  return header;
}

}  // namespace lapse
