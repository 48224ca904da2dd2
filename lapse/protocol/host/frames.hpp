// The format that engines exchange: frames of records. Drawn in docs/wire-format.md. The module that takes a
// kind declares its records.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lapse/core/error.hpp"
#include "lapse/protocol/host/frame_kinds.hpp"

namespace lapse {

static_assert(std::endian::native == std::endian::little,
              "messages are little-endian, as they are stored in memory");

// A packet is a sequence of frames; a frame is this header and `count` records of `record_bytes` each, padded
// to a multiple of 8 bytes. All records that an engine turn sends to one rank go into one packet, or into
// several if they exceed the packet size. Records with equal headers share a frame. So an operation on many
// keys needs few messages per destination at every hop.
//
//    0      2      4       8       12             16       20       24           32
//   | kind | flags | table | count | record_bytes | origin | domain | operation |
struct FrameHeader {
  static constexpr std::uint16_t kByHome = 1;  // operations: routed by the home, by its ownership table
  // failures: out of memory; otherwise user code threw
  static constexpr std::uint16_t kOutOfMemory = 1;
  static constexpr std::uint16_t kToMember = 1;  // offer: to a holder; otherwise it answers on

  std::uint16_t kind = 0;
  std::uint16_t flags = 0;  // the highest four: the sender's numbers of cuts (CutNumber), not for modules
  std::uint32_t table = 0;  // collectives: the low bits of the number of the round
  std::uint32_t count = 0;
  std::uint32_t record_bytes = 0;
  // operations and requests within a domain: rank of the requester; poison, group_failed and failures: the
  // rank that failed; push_run: the bits of the scale; answers to runs: number of the first item
  std::int32_t origin = 0;
  // localize: requester; instruct: new owner; refuse: home; answers: domain that executed; runs: number of
  // the first item, after which they are consecutive; on, delta, off, want, unwant: domain that wants the
  // key; snapshot, offer, refuse_copy, refresh, acknowledge: owner
  std::int32_t domain = 0;
  // operations, localize_for, answers: the requester's operation; leases: its worker; collectives and
  // group_failed: number of the group of workers; inquiries: number of the question; refresh: number of the
  // part (RefreshParts)
  std::uint64_t operation = 0;

  // Every other field is 0.
  static FrameHeader of(FrameKind kind, std::uint32_t table = 0, std::uint64_t operation = 0) {
    return {.kind = static_cast<std::uint16_t>(kind), .table = table, .operation = operation};
  }
  // Whether records of `other` may follow in the same frame.
  bool same_frame(const FrameHeader& other) const {
    return kind == other.kind && flags == other.flags && table == other.table &&
           record_bytes == other.record_bytes && origin == other.origin && domain == other.domain &&
           operation == other.operation;
  }
};
static_assert(sizeof(FrameHeader) == 32 && std::is_trivially_copyable_v<FrameHeader>);

// Data after the fixed part of a record is padded to a multiple of 8 bytes, except rows of elements. Rows
// need alignment only where they are read in place, in push and set. There, elements of 8 bytes begin at a
// multiple of 8, other elements at a multiple of 4.
constexpr std::size_t padded_bytes(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

// Read and write a record, or its fixed part, at any alignment. write_record returns where the rest begins.
template <class Record>
Record read_record(const std::byte* from) {
  Record record;
  std::memcpy(&record, from, sizeof record);
  return record;
}
template <class Record>
std::byte* write_record(std::byte* to, const Record& record) {
  std::memcpy(to, &record, sizeof record);
  return to + sizeof record;
}
// Reads record number `at` of a frame. Throws ProtocolError, with this message, if the frame's records have
// another length.
template <class Record>
Record record_of(const FrameHeader& header, const std::byte* records, std::uint32_t at, const char* problem) {
  if (header.record_bytes != sizeof(Record)) throw ProtocolError(problem);
  return read_record<Record>(records + at * sizeof(Record));
}

}  // namespace lapse
