// Packets that an outbox has sent, parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lapse/protocol/host/frames.hpp"
#include "lapse/transport/loopback/network.hpp"
#include "test/support/catch.hpp"
#include "test/support/frame_modules.hpp"

namespace lapse::test {

using Packet = std::vector<std::byte>;

inline FrameHeader header(FrameKind kind, std::uint64_t operation = 0, std::uint32_t table = 0) {
  FrameHeader header;
  header.kind = static_cast<std::uint16_t>(kind);
  header.table = table;
  header.operation = operation;
  return header;
}

// All packets from rank 0 to `to` on a lane, in sending order.
inline std::vector<Packet> delivered(LoopbackNetwork& network, Rank to,
                                     Transport::Lane lane = Transport::Lane::ordered) {
  std::vector<Packet> packets;
  for (bool more = true; more;) {
    more = false;
    for (const auto& choice : network.deliverable()) {
      if (choice.to != to || choice.lane != lane) continue;
      network.deliver(choice, [&](Rank from, std::span<const std::byte> packet) {
        CHECK(from == Rank(0));
        packets.emplace_back(packet.begin(), packet.end());
      });
      more = true;
      break;
    }
  }
  return packets;
}

inline FrameHeader header_at(const Packet& packet, std::size_t offset) {
  FrameHeader header;
  REQUIRE(packet.size() >= offset + sizeof header);
  std::memcpy(&header, packet.data() + offset, sizeof header);
  return header;
}

}  // namespace lapse::test
