// Packets as text, for traces.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace lapse::test {

// The frames of a packet: kinds, keys, requesters. The packet is well-formed.
std::string describe_packet(std::span<const std::byte> packet);

}  // namespace lapse::test
