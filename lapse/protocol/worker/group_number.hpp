// Numbers of groups of workers.
#pragma once

#include <cstdint>

namespace lapse {

// Those of groups that run at the same time differ, and none is used again.
using GroupNumber = std::uint64_t;
// The group of all workers of a phase without groups.
inline constexpr GroupNumber kAllWorkers = 0;

}  // namespace lapse
