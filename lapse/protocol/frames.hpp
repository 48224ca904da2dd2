// What travels between engines: frames of records. Drawn in docs/wire-format.md; the records of a kind are
// declared by the module that takes it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lapse {

static_assert(std::endian::native == std::endian::little,
              "messages are little-endian, as they are stored in memory");

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
  failed_answer = 16,  // user code has thrown at the owner, or the key could not be made
  // Within a domain, between the rank that serves a key and the others:
  localize_for = 17,  // a worker of the sender localizes the key
  localize_answer = 18,
  lease_request = 19,  // a worker of the sender requests a lease of the key
  lease_grant = 20,
  lease_release = 21,  // the lease has ended; operations or requests wait for its end
  refuse = 22,         // answers localize: the home cannot make the key
  // Within a domain: the serving rank could not have the key.
  localize_failed = 23,
  lease_refused = 24,
  // Why a worker waits:
  key_inquiry = 25,  // of a worker that waits for the key
  key_inquiry_answer = 26,
  worker_inquiry = 27,  // of a worker that waits for other workers, or for a sign of life
  worker_inquiry_answer = 28,
  // Operations on many keys whose values have one length, and their answers: first all keys, then all values.
  pull_run = 29,
  push_run = 30,
  set_run = 31,
  pull_run_answer = 32,  // values of keys in the order of the request
  push_run_answer = 33,  // for push and set: no bytes
  // Copies of values. From a domain to the owner:
  on = 34,     // the domain wants the key
  delta = 35,  // how the domain's copy has changed
  off = 36,    // the domain no longer wants the key; with the last delta
  // From the owner:
  snapshot = 37,               // answers on: the value
  offer = 38,                  // answers on, or asks a member: the domain shall localize the key
  refuse_copy = 39,            // answers on: there is no copy
  refresh = 40,                // the value has changed; answers delta
  acknowledge = 41,            // answers off
  transfer_with_members = 42,  // transfer, of a key that other domains hold copies of
  // Within a domain, to the rank that serves a key:
  want = 43,  // workers of the sender want the key
  unwant = 44,
  // For a worker that waits until copies are merged and refreshed. Within a domain:
  sync_for = 45,  // a worker of the sender waits
  sync_for_answer = 46,
  // Between ranks that serve the same keys for different domains:
  sync = 47,  // the sender's copies shall be refreshed
  sync_answer = 48,
  stop_request = 49,  // workers of every rank should return
  credit = 50,        // how many bytes of refresh and delta from the receiver the sender has handled
};
constexpr std::size_t kFrameKinds = 51;

// A packet is a sequence of frames; a frame is this header and `count` records of `record_bytes` each, padded
// to a multiple of 8 bytes. All that an engine turn sends to one rank goes into one packet, or into several
// when it exceeds the packet size. Records with equal headers go into one frame. So an operation on many keys
// needs few messages per destination at every hop.
//
//    0      2      4       8       12             16       20       24           32
//   | kind | flags | table | count | record_bytes | origin | domain | operation |
//
struct FrameHeader {
  static constexpr std::uint16_t kByHome = 1;  // operations: routed by the home, by its ownership table
  // failures: there was no memory; else user code has thrown
  static constexpr std::uint16_t kOutOfMemory = 1;
  static constexpr std::uint16_t kToMember = 1;  // offer: to a member; else it answers on

  std::uint16_t kind = 0;
  std::uint16_t flags = 0;
  std::uint32_t table = 0;
  std::uint32_t count = 0;
  std::uint32_t record_bytes = 0;
  // operations and requests within a domain: rank of the requester; poison and failures: the rank that
  // failed; push_run: the bits of the scale; answers to runs: number of the first item
  std::int32_t origin = 0;
  // localize: requester; instruct: new owner; refuse: home; answers: domain that executed; runs: number of
  // the first item, after which they are consecutive; on, delta, off, want, unwant: domain that wants the
  // key; snapshot, offer, refuse_copy, refresh, acknowledge: owner
  std::int32_t domain = 0;
  // operations, localize_for, answers: the requester's operation; leases: its worker; collectives: round;
  // inquiries: number of the question; refresh: number of the receiver's last sync that the sender has
  // answered
  std::uint64_t operation = 0;

  // Whether records of `other` may follow in the same frame.
  bool same_frame(const FrameHeader& other) const {
    return kind == other.kind && flags == other.flags && table == other.table &&
           record_bytes == other.record_bytes && origin == other.origin && domain == other.domain &&
           operation == other.operation;
  }
};
static_assert(sizeof(FrameHeader) == 32 && std::is_trivially_copyable_v<FrameHeader>);

// Data after the fixed part of a record, other than rows of elements, is padded to a multiple of 8 bytes.
// Rows need alignment only where they are read in place, in push and set, and are aligned there: elements of
// 8 bytes begin at a multiple of 8, other elements at a multiple of 4.
constexpr std::size_t padded_bytes(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

}  // namespace lapse
