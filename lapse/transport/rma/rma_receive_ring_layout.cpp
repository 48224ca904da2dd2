#include "lapse/transport/rma/rma_receive_ring_layout.hpp"

#include <algorithm>

#include "lapse/transport/rma/rma_receive_ring.hpp"

namespace lapse {

RmaReceiveRingLayout::RmaReceiveRingLayout(std::span<const std::int32_t> hosts, std::size_t ring_bytes)
    : hosts_(hosts.begin(), hosts.end()),
      one_host_(std::ranges::count(hosts_, hosts_.front()) == std::ssize(hosts_)),
      ring_bytes_(ring_bytes) {
  if (ring_bytes_ != 0) return;
  std::size_t max_rings = 1;
  for (std::size_t rank = 0; rank < hosts_.size(); ++rank) {
    max_rings = std::max(max_rings, rings_at(Rank(static_cast<std::int32_t>(rank))));
  }
  const std::size_t share =
      kWindowBytes / max_rings / rma_receive_ring::kAlignment * rma_receive_ring::kAlignment;
  ring_bytes_ = std::clamp(share, kMinRingBytes, kMaxRingBytes);
}

std::size_t RmaReceiveRingLayout::rings_at(Rank rank) const {
  std::size_t rings = 0;
  for (std::size_t from = 0; from < hosts_.size(); ++from) rings += has_ring(from, rank.index()) ? 1 : 0;
  return rings;
}

std::optional<std::size_t> RmaReceiveRingLayout::offset(Rank from, Rank to) const {
  if (!has_ring(from.index(), to.index())) return std::nullopt;
  std::size_t before = 0;
  for (std::size_t other = 0; other < from.index(); ++other) before += has_ring(other, to.index()) ? 1 : 0;
  return before * ring_bytes_;
}

std::optional<Rank> RmaReceiveRingLayout::partner(Rank from) const {
  for (std::size_t step = 1; step < hosts_.size(); ++step) {
    const std::size_t other = (from.index() + step) % hosts_.size();
    if (has_ring(from.index(), other)) return Rank(static_cast<std::int32_t>(other));
  }
  return std::nullopt;
}

}  // namespace lapse
