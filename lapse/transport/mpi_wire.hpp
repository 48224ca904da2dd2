// What the packets of MpiTransport look like on the wire; docs/wire-format.md draws it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapse::mpi_wire {

// Messages of the eager stream: they are matched by receives from any source.
inline constexpr int kEagerTag = 1;
// Fragments of announced payloads.
inline constexpr int kFragmentTag = 2;
// Of the self-test of windows, before anything else is sent.
inline constexpr int kSelfTestTag = 3;

// The last byte of every eager message says what it is, so that the packet itself begins where the buffer
// begins.
enum class Kind : std::uint8_t {
  packet = 1,        // the bytes before it are a packet
  announcement = 2,  // the 8 bytes before it are the size of a packet that follows in fragments
  landing = 3,       // a LandingNote is before it: credit, and perhaps a packet that lies in a landing ring
};
inline constexpr std::size_t kKindBytes = 1;
inline constexpr std::size_t kAnnouncementBytes = sizeof(std::uint64_t) + kKindBytes;

// Positions as in landing_ring.hpp.
struct LandingNote {
  std::uint64_t consumed =
      0;                    // in the ring for the opposite direction: everything before it can be used again
  std::uint64_t begin = 0;  // of the packet in the receiver's ring for this sender
  std::uint64_t bytes = 0;  // of the packet; 0: there is none, only credit
};
static_assert(sizeof(LandingNote) == 24);
inline constexpr std::size_t kLandingNoteBytes = sizeof(LandingNote) + kKindBytes;

}  // namespace lapse::mpi_wire
