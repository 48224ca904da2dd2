// The checksum of checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lapse {

// XXH3 with 64 bits, without a seed.
std::uint64_t checksum(std::span<const std::byte> bytes);
// The checksum of consecutive pieces.
std::uint64_t checksum(std::span<const std::span<const std::byte>> pieces);

}  // namespace lapse
