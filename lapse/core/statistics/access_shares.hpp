// Where accesses to a table went.
#pragma once

#include <optional>

#include "lapse/core/counter_values.hpp"

namespace lapse {

// Shares from 0 to 1: of keys, and of operations.
struct AccessShares {
  double local = 0;   // keys accessed in memory at once
  double main = 0;    // of these, in a main copy
  double copy = 0;    // and in another copy
  double queued = 0;  // keys accessed in memory after they had arrived
  double remote = 0;  // keys accessed by message
  double remote_operations = 0;
};

// Nothing before the first access.
std::optional<AccessShares> access_shares(const TableCounters& counters);

}  // namespace lapse
