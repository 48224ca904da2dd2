// What the packets of MpiTransport look like on the wire; docs/wire-format-transport.md draws it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lapse::mpi_wire {

// Messages of the eager stream: they are matched by receives from any source.
inline constexpr int kEagerTag = 1;
// Fragments of announced payloads.
inline constexpr int kFragmentTag = 2;

// The last byte of every eager message says what it is, so that the packet itself begins where the buffer
// begins.
enum class Kind : std::uint8_t {
  packet = 1,        // the bytes before it are a packet
  announcement = 2,  // the 8 bytes before it are the size of a packet that follows in fragments
};
inline constexpr std::size_t kKindBytes = 1;
inline constexpr std::size_t kAnnouncementBytes = sizeof(std::uint64_t) + kKindBytes;

}  // namespace lapse::mpi_wire
