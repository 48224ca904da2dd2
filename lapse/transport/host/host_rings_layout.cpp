#include "lapse/transport/host/host_rings_layout.hpp"

#include <algorithm>

namespace lapse {

namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

HostRingsLayout::HostRingsLayout(std::int32_t ranks, std::size_t ring_bytes, std::size_t page_bytes)
    : page_bytes_(page_bytes), ranks_(static_cast<std::size_t>(ranks)), ring_bytes_(ring_bytes) {
  if (ring_bytes_ == 0) ring_bytes_ = std::clamp(kReceiverBytes / ranks_, kMinRingBytes, kMaxRingBytes);
  ring_bytes_ = round_up(ring_bytes_, page_bytes_);
}

std::size_t HostRingsLayout::receiver_bytes() const {
  return round_up(ranks_ * sizeof(host_ring::Position), host_ring::kAlignment);
}

std::size_t HostRingsLayout::ring_offset(std::size_t from, std::size_t to) const {
  const std::size_t others = ranks_ - 1;
  const std::size_t sender = from < to ? from : from - 1;
  return round_up(position_bytes(), page_bytes_) + (to * others + sender) * ring_bytes_;
}

HostRingMemory HostRingsLayout::ring(std::byte* memory, std::size_t from, std::size_t to) const {
  std::byte* const positions = memory + to * receiver_bytes();
  std::byte* const ring = memory + ring_offset(from, to);
  // Zeroed memory is a position at the start; 64-bit atomics have the representation of their value.
  return {.bytes = ring + host_ring::kAlignment,
          .capacity = capacity(),
          .published = reinterpret_cast<host_ring::Position*>(positions) + from,
          .consumed = reinterpret_cast<host_ring::Position*>(ring)};
}

}  // namespace lapse
