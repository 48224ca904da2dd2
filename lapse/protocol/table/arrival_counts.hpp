// The statistics of keys that have arrived.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "lapse/core/counter_values.hpp"

namespace lapse {

// `took`: from the request of the key to its arrival.
inline void count_arrival(TableCounters& counters, std::chrono::nanoseconds took) {
  const auto nanoseconds = static_cast<std::uint64_t>(took.count());
  ++counters.relocations_in;
  counters.relocation_nanoseconds += nanoseconds;
  counters.relocation_max_nanoseconds = std::max(counters.relocation_max_nanoseconds, nanoseconds);
}

}  // namespace lapse
