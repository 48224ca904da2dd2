// Which ranks have RMA receive rings at which ranks, and where these begin in the windows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse {

// A rank's window holds a ring for each rank of another host, in rank order; if all ranks are on one host,
// for each other rank. A value that all ranks compute alike. Thread safety: constant.
class RmaReceiveRingLayout {
 public:
  // Total bytes of a rank's rings, unless that would make a ring shorter than kMinRingBytes.
  static constexpr std::size_t kWindowBytes = std::size_t{64} << 20;
  static constexpr std::size_t kMinRingBytes = std::size_t{128} << 10;
  static constexpr std::size_t kMaxRingBytes = std::size_t{8} << 20;

  // hosts[r] is the host of rank r. `ring_bytes`: size of every ring, a multiple of
  // rma_receive_ring::kAlignment; 0: chosen by the number of rings.
  RmaReceiveRingLayout(std::span<const std::int32_t> hosts, std::size_t ring_bytes);

  std::size_t ring_bytes() const { return ring_bytes_; }
  std::size_t window_bytes(Rank rank) const { return rings_at(rank) * ring_bytes_; }
  // Offset of the ring of `from` in the window of `to`; nullopt if it has no ring there.
  std::optional<std::size_t> offset(Rank from, Rank to) const;
  // The first rank after `from`, cyclically, at which it has a ring; nullopt if none.
  std::optional<Rank> partner(Rank from) const;
  // Whether the rings connect ranks of one host.
  bool within_host() const { return one_host_; }

 private:
  bool has_ring(std::size_t from, std::size_t to) const {
    return from != to && (one_host_ || hosts_[from] != hosts_[to]);
  }
  std::size_t rings_at(Rank rank) const;

  std::vector<std::int32_t> hosts_;
  bool one_host_;
  std::size_t ring_bytes_;
};

}  // namespace lapse
