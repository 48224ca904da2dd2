#include "lapse/transport/host/host_doorbells.hpp"

namespace lapse {

HostDoorbells::HostDoorbells(std::byte* lines, std::span<const std::int32_t> hosts, Rank self)
    : self_(self), bells_(hosts.size()) {
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    if (hosts[rank] != hosts[self.index()]) continue;
    // Zeroed memory is an idle word; 32-bit atomics have the representation of their value.
    bells_[rank] = std::make_unique<Doorbell>(*reinterpret_cast<Doorbell::Word*>(lines));
    lines += kLineBytes;
  }
}

}  // namespace lapse
