// The checksum of checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace lapse {

// XXH3 with 64 bits, without a seed.
std::uint64_t checksum(std::span<const std::byte> bytes);
// Of pieces that follow one another.
std::uint64_t checksum(std::span<const std::span<const std::byte>> pieces);

}  // namespace lapse
