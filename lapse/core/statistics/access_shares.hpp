// The shares of accesses to a table by how they were made.
#pragma once

#include <optional>

#include "lapse/core/counter_values.hpp"

namespace lapse {

// Shares of keys and of operations, from 0 to 1.
struct AccessShares {
  double local = 0;   // keys accessed in memory at once
  double main = 0;    // of these, in a main copy
  double copy = 0;    // and in a replica
  double queued = 0;  // keys accessed in memory after they arrived
  double remote = 0;  // keys accessed by message
  double remote_operations = 0;
};

// nullopt before the first access.
std::optional<AccessShares> access_shares(const TableCounters& counters);

}  // namespace lapse
