// Counts numbers that are not finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/checkpoint/shard_format.hpp"

namespace lapse {

// Returns the number of elements that are infinite or NaN; 0 for integers. The bytes are whole elements, at
// any address.
std::uint64_t count_not_finite(std::span<const std::byte> bytes, CheckpointElement element);

}  // namespace lapse
