// The layout of the rings between the ranks of a host in their shared memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/core/process/pages.hpp"
#include "lapse/transport/host/host_ring.hpp"

namespace lapse {

// The positions that senders have published come first, grouped by receiver: a receiver with up to 8 senders
// reads one cache line to see that nothing has arrived, one with 63 reads 8. The rings follow, each
// page-aligned, with the receiver's position in its first cache line.
//
// A value that all ranks compute alike. Thread safety: constant.
class HostRingsLayout {
 public:
  // Total bytes of a receiver's rings, unless that would make a ring shorter than kMinRingBytes.
  static constexpr std::size_t kReceiverBytes = std::size_t{4} << 20;
  static constexpr std::size_t kMinRingBytes = std::size_t{64} << 10;
  static constexpr std::size_t kMaxRingBytes = std::size_t{512} << 10;

  // `ranks`: on this host, at least 2. `ring_bytes`: size of every ring, rounded up to whole pages of
  // `page_bytes`; 0: chosen by the number of ranks.
  explicit HostRingsLayout(std::int32_t ranks, std::size_t ring_bytes = 0,
                           std::size_t page_bytes = lapse::page_bytes());

  // Total for all ranks.
  std::size_t bytes() const { return ring_offset(ranks_ - 2, ranks_ - 1) + ring_bytes_; }
  // Size of the published positions at the start.
  std::size_t position_bytes() const { return ranks_ * receiver_bytes(); }
  std::size_t ring_bytes() const { return ring_bytes_; }
  std::uint64_t capacity() const { return ring_bytes_ - host_ring::kAlignment; }

  // The ring from one rank to a different one, by their numbers among the ranks of the host.
  HostRingMemory ring(std::byte* memory, std::size_t from, std::size_t to) const;

 private:
  std::size_t receiver_bytes() const;
  std::size_t ring_offset(std::size_t from, std::size_t to) const;

  std::size_t page_bytes_;
  std::size_t ranks_;
  std::size_t ring_bytes_;
};

}  // namespace lapse
