// The slots of payloads in a ring that one rank fills by remote memory access and another drains.
#pragma once

#include <cstdint>

namespace lapse {

// Positions count all bytes ever used, gaps included, so they only grow; a slot begins at begin % capacity in
// the ring.
struct RmaRingSlot {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;  // where the next slot may begin

  bool operator==(const RmaRingSlot&) const = default;
};

namespace rma_receive_ring {

// Alignment of every slot: handlers find packets aligned, and neighbours share no cache line.
inline constexpr std::uint64_t kAlignment = 64;

// The slot of a payload after `position`, which is a multiple of kAlignment like `capacity`. A slot is
// contiguous, so it skips the end of the ring if that is too short. Both ends compute it: the reader needs no
// table of the writer's slots.
constexpr RmaRingSlot slot(std::uint64_t capacity, std::uint64_t position, std::uint64_t bytes) {
  const std::uint64_t room = capacity - position % capacity;
  const std::uint64_t begin = bytes <= room ? position : position + room;
  return {begin, begin + (bytes + kAlignment - 1) / kAlignment * kAlignment};
}

// The largest payload. With four slots to a ring and credit returned for each quarter, a ring whose reader
// has caught up has space for any payload, wherever its last slot ends.
constexpr std::uint64_t largest_payload(std::uint64_t capacity) {
  return capacity / 4;
}

}  // namespace rma_receive_ring

}  // namespace lapse
