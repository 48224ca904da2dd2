// What the management of a table cost beside the least, as text and JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "apps/viewer/allocation.hpp"
#include "apps/viewer/optimum.hpp"

namespace lapse::apps {

// Of all keys of a table.
struct TableOptimum {
  std::string table;
  std::int32_t domains = 0;
  std::string unit;  // of costs
  AllocationCosts costs;
  std::vector<KeyOptimum> keys;
  std::uint64_t accesses = 0;
  AllocationWork ran;
  AllocationWork stayed;
  AllocationWork least;
  double least_cost = 0;

  // Whether the least could have been done; otherwise, it is a bound.
  bool is_exact() const { return domains <= 2; }
  // The cost of what ran, in parts of the least; 1 if both are nothing.
  double regret() const;
};

// Throws ConfigurationError as optima_of does.
TableOptimum optimum_of(const TableAllocation& table, const AllocationCosts& costs, std::string unit);

// With the `worst_keys` keys that cost more than the least by the largest amounts.
void print_optimum(const TableOptimum& optimum, std::size_t worst_keys, std::FILE* out);

// An object with the tables, and what the trace lacks; costs that JSON has no number for are null.
std::string optima_json(const std::vector<TableOptimum>& optima, const Allocation& allocation);

}  // namespace lapse::apps
