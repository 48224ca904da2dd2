// What it costs to reach, move and copy the keys of a trace: as it ran, and at the least.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "apps/viewer/allocation.hpp"

namespace lapse::apps {

// What is done to keys between domains; each takes messages.
struct AllocationWork {
  std::uint64_t reads = 0;    // accesses of keys that the domain has no copy of
  std::uint64_t writes = 0;   // likewise
  std::uint64_t moves = 0;    // of the main copy
  std::uint64_t set_ups = 0;  // of replicas
  std::uint64_t deltas = 0;   // a replica's changes to the main copy
  std::uint64_t refreshes = 0;
  std::uint64_t drops = 0;  // of replicas

  AllocationWork& operator+=(const AllocationWork& other);
};

// Of each of them for one key, in any unit.
struct AllocationCosts {
  double read = 0;
  double write = 0;
  double move = 0;
  double set_up = 0;
  double delta = 0;
  double refresh = 0;
  double drop = 0;

  double of(const AllocationWork& work) const;
};

// Of a key: its value; its content, which moves and is copied, and has the optimizer's state; what a replica
// sends for its changes.
struct ValueBytes {
  std::uint64_t value = 0;
  std::uint64_t content = 0;
  std::uint64_t delta = 0;
};

// In bytes, with the records of the protocol in batches of many keys.
AllocationCosts byte_costs(const ValueBytes& bytes);

// "read=1.5,write=2,move=3,set_up=4,delta=1,refresh=1,drop=.1"; a name that is left out costs nothing. Throws
// ConfigurationError for other names and for costs that are not finite or negative.
AllocationCosts parse_costs(std::string_view text);

// The work for one key by different ways to manage it.
struct KeyOptimum {
  std::uint64_t key = 0;
  std::uint64_t accesses = 0;
  AllocationWork ran;     // as it ran
  AllocationWork stayed;  // had the key stayed where it was first, without replicas
  // The least. Of two domains: work that could have been done, and its cost. Of more: the sum, over domains,
  // of the least work between the domain and all others as if they were one, and half its cost: no management
  // costs less, as each message has two ends.
  AllocationWork least;
  double least_cost = 0;
};

// For all keys that were accessed or moved, ascending. Changes of replicas add up until the next round of the
// trace, for the least as for what ran; where a trace has no rounds, for a millisecond. Throws
// ConfigurationError if the trace has no accesses, or one domain.
std::vector<KeyOptimum> optima_of(const TableAllocation& table, const AllocationCosts& costs);

}  // namespace lapse::apps
