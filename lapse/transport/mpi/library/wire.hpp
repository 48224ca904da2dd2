// The wire format of MpiTransport's packets; docs/wire-format.md draws it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapse::mpi_wire {

// Eager messages, matched by receives from any source.
inline constexpr int kEagerTag = 1;
// Fragments of announced payloads.
inline constexpr int kFragmentTag = 2;
// Messages of the window self-test, sent before anything else.
inline constexpr int kSelfTestTag = 3;
// Notice that a rank waits in a collective control call: the call's number as u64 (gather_notices.hpp).
inline constexpr int kGatherTag = 4;

// The last byte of every eager message is its kind, so that the packet begins where the buffer begins.
enum class Kind : std::uint8_t {
  packet = 1,        // the bytes before it are a packet
  announcement = 2,  // the 8 bytes before it are the size of a packet that follows in fragments
  ring_note = 3,     // a RingNote is before it: credit, and perhaps a packet in an RMA receive ring
};
inline constexpr std::size_t kKindBytes = 1;
inline constexpr std::size_t kAnnouncementBytes = sizeof(std::uint64_t) + kKindBytes;

// Positions as in rma_receive_ring.hpp.
struct RingNote {
  std::uint64_t consumed = 0;  // in the ring of the opposite direction: all before it can be reused
  std::uint64_t begin = 0;     // of the packet in the receiver's ring for this sender
  std::uint64_t bytes = 0;     // of the packet; 0: there is none, only credit
};
static_assert(sizeof(RingNote) == 24);
inline constexpr std::size_t kRingNoteBytes = sizeof(RingNote) + kKindBytes;

}  // namespace lapse::mpi_wire
