// The format of messages about replicas. Drawn in docs/wire-format.md.
#pragma once

#include <cstdint>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

// on, want, unwant, acknowledge, offer, refuse_copy: this.
struct CopyRecord {
  std::uint64_t key = 0;
};
static_assert(sizeof(CopyRecord) == 8);

// snapshot, refresh: this, then the elements of value and state. The version of the main copy is shifted by
// one; the lowest bit is that of the last DELTA that the owner has accepted from the domain.
struct VersionRecord {
  std::uint64_t key = 0;
  std::uint64_t version_and_bit = 0;

  static std::uint64_t pack(std::uint64_t version, bool bit) { return version << 1U | (bit ? 1U : 0U); }
  std::uint64_t version() const { return version_and_bit >> 1U; }
  bool bit() const { return (version_and_bit & 1U) != 0; }
};
static_assert(sizeof(VersionRecord) == 16);

// delta, off: this, then the delta (see CopyMerger), which an OFF may lack.
struct DeltaRecord {
  static constexpr std::uint64_t kBit = 1;
  // The owner acknowledges it at once, not in its next round: either a sync waits, or the record was
  // forwarded, so that the rank that a sync has asked may be another one.
  static constexpr std::uint64_t kAwaited = 2;

  std::uint64_t key = 0;
  std::uint64_t flags = 0;
};
static_assert(sizeof(DeltaRecord) == 16);

// transfer_with_members: a TransferRecord, the moved bytes of the slot padded to 8, then one of these for
// each holder.
struct MemberRecord {
  std::int32_t domain = 0;
  std::uint16_t dirty = 0;
  std::uint16_t bit = 0;
};
static_assert(sizeof(MemberRecord) == 8);

// credit: how many bytes of refresh and delta the sender has handled, of all that the receiver has sent it.
struct CreditRecord {
  std::uint64_t bytes = 0;
};
static_assert(sizeof(CreditRecord) == 8);

// `domain`: the domain that sends the frame; for on, delta and off: the one that sent it first.
inline FrameHeader copy_header(FrameKind kind, const TableShard& table, Domain domain, std::size_t bytes,
                               bool by_home = false) {
  FrameHeader header = FrameHeader::of(kind, table.id().value());
  header.flags = by_home ? FrameHeader::kByHome : std::uint16_t{0};
  header.record_bytes = static_cast<std::uint32_t>(bytes);
  header.domain = domain.value();
  return header;
}

}  // namespace lapse
