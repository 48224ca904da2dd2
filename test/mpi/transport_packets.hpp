// Packets for tests of the transport, and their destinations.
#pragma once

#include <cstddef>
#include <utility>

#include "lapse/transport/transport.hpp"

namespace lapse {

// A packet of the given number of bytes, with arbitrary content.
inline void send_bytes(Transport& transport, Rank to, std::size_t bytes) {
  PacketBuffer packet = transport.acquire_buffer();
  packet.extend(bytes);
  transport.send(to, std::move(packet), Transport::Lane::ordered);
}

inline Rank next_rank(const Transport& transport) {
  return Rank{(transport.rank().value() + 1) % transport.ranks()};
}

}  // namespace lapse
