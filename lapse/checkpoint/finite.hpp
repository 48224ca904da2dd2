// Numbers that are not finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/checkpoint/shard_format.hpp"

namespace lapse {

// How many of the elements are infinite or not a number; of integers none. The bytes are whole elements, at
// any address.
std::uint64_t count_not_finite(std::span<const std::byte> bytes, CheckpointElement element);

}  // namespace lapse
