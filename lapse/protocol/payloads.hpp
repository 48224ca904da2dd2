// What travels between engines. Drawn in docs/wire-format.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lapse {

static_assert(std::endian::native == std::endian::little,
              "messages are little-endian, as they lie in memory");

enum class FrameKind : std::uint16_t {
  pull = 1,
  push = 2,
  set = 3,
  pull_answer = 4,
  push_answer = 5,
  localize = 6,
  instruct = 7,
  transfer = 8,
  workers_up = 9,  // collectives of workers, towards the root and back
  workers_down = 10,
  wave_up = 11,  // waves of termination detection
  wave_down = 12,
  poison = 13,
  call = 14,  // a registered function, at the owner
  call_answer = 15,
  failed_answer = 16,  // code of the user has thrown at the owner
  // Within a domain, between the rank that serves a key and the others:
  localize_for = 17,  // a worker of the sender wants the key here
  localize_answer = 18,
  lease_request = 19,  // a worker of the sender wants the key for itself
  lease_grant = 20,
  lease_release = 21,  // its lease has ended and something waits for that
};
constexpr std::size_t kFrameKinds = 22;

// Frames that termination detection does not count: its own.
constexpr bool is_wave(FrameKind kind) {
  return kind == FrameKind::wave_up || kind == FrameKind::wave_down;
}

// A packet is a sequence of frames; a frame is this header and `count` records of `record_bytes` each, padded
// to a multiple of 8 bytes. What an engine turn says to one rank goes into one packet, or several where it is
// much, and records that belong together into one frame: that is how an operation on many keys needs one
// message per destination at every hop.
//
//    0      2      4       8       12             16       20       24           32
//   | kind | flags | table | count | record_bytes | origin | domain | operation |
//
struct FrameHeader {
  static constexpr std::uint16_t kByHome = 1;  // operations: the home routed them here by its table

  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  std::uint32_t table = 0;
  std::uint32_t count = 0;
  std::uint32_t record_bytes = 0;
  std::int32_t origin =
      0;  // operations and what is asked within a domain: rank of the requester; poison: the rank that failed
  std::int32_t domain = 0;  // localize: requester; instruct: new owner; answers: domain that executed
  // operations, localize_for and answers: the requester's operation; leases: its worker; collectives: their
  // number
  std::uint64_t operation = 0;

  // Whether records of `other` may follow in the same frame.
  bool same_frame(const FrameHeader& other) const {
    return kind == other.kind && flags == other.flags && table == other.table &&
           record_bytes == other.record_bytes && origin == other.origin && domain == other.domain &&
           operation == other.operation;
  }
};
static_assert(sizeof(FrameHeader) == 32 && std::is_trivially_copyable_v<FrameHeader>);

// pull: this; push and set: this, then the update's elements.
struct OperationRecord {
  std::uint64_t key = 0;
  std::uint32_t item = 0;  // the requester's number for this key within the operation
  float scale = 1;         // push: of the learning rate
};
static_assert(sizeof(OperationRecord) == 16);

// call: this, then the argument.
struct CallRecord {
  std::uint64_t key = 0;
  std::uint32_t item = 0;
  std::uint32_t function = 0;  // in the order of registration
};
static_assert(sizeof(CallRecord) == sizeof(OperationRecord));

// pull_answer: this, then the value's elements. call_answer: this, then the result. failed_answer: this, then
// what was thrown, as text.
struct AnswerRecord {
  std::uint32_t item = 0;
};
static_assert(sizeof(AnswerRecord) == 4);

struct PushAnswerRecord {
  std::uint32_t item = 0;
};
static_assert(sizeof(PushAnswerRecord) == 4);

struct LocalizeRecord {
  std::uint64_t key = 0;
};

// lease_request: this. lease_grant and lease_release: this; then, where the content lies in memory that only
// the serving rank can address, the content itself.
struct LeaseRecord {
  std::uint64_t key = 0;
};

struct InstructRecord {
  std::uint64_t key = 0;
  std::uint32_t relocations = 0;  // how often the key has moved, this time included
  std::uint32_t padding = 0;
};
static_assert(sizeof(InstructRecord) == 16);

// transfer: this, then the content: the value's elements and the state of the update rule.
struct TransferRecord {
  std::uint64_t key = 0;
  std::uint32_t relocations = 0;
  std::uint32_t padding = 0;
};
static_assert(sizeof(TransferRecord) == 16);

// What follows the fixed part of a record and is no row of elements is padded to a multiple of 8 bytes. Rows
// need that only where they are read in place, in push and set, and have it there: elements of 8 bytes begin
// at a multiple of 8, others at one of 4.
constexpr std::size_t padded_bytes(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

// True for kinds that may overtake others without harm; they go by the bulk lane.
constexpr bool may_be_unordered(FrameKind kind) {
  return kind == FrameKind::transfer || kind == FrameKind::pull_answer || kind == FrameKind::push_answer ||
         kind == FrameKind::call_answer || kind == FrameKind::failed_answer ||
         kind == FrameKind::localize_answer || kind == FrameKind::lease_grant;
}

}  // namespace lapse
