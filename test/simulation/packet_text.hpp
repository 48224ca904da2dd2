// Splits packets into frames, and prints them for traces.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "lapse/protocol/host/frames.hpp"

namespace lapse::test {

// Calls f(header, records) for every frame of a well-formed packet.
template <class F>
void for_each_frame(std::span<const std::byte> packet, F&& f) {
  while (!packet.empty()) {
    FrameHeader header;
    std::memcpy(&header, packet.data(), sizeof header);
    f(header, packet.data() + sizeof header);
    const std::size_t bytes = std::size_t{header.count} * header.record_bytes;
    packet = packet.subspan(std::min(packet.size(), sizeof header + (bytes + 7) / 8 * 8));
  }
}

// Describes the frames of a well-formed packet: kinds, keys, requesters.
std::string describe_packet(std::span<const std::byte> packet);

}  // namespace lapse::test
