// Questions about a trace of allocation, answered as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "apps/viewer/allocation.hpp"

namespace lapse::apps {

// Ranks, phases, and for each table its keys, relocations and replicas.
void print_trace_summary(const Allocation& allocation, std::FILE* out);

// The table of this name; the only one if the name is empty. Throws ConfigurationError.
const TableAllocation& chosen_table(const Allocation& allocation, const std::string& name);

// Who owned the key, and which domains had a replica of it, at a time in seconds. Without it: all changes,
// and wants and accesses if the trace has them.
void print_key(const TableAllocation& table, std::uint64_t key, std::optional<double> seconds,
               std::FILE* out);

// The keys that moved most often; with `returns`, those that went back most often to where they came from.
void print_moves(const TableAllocation& table, std::size_t count, bool returns, std::FILE* out);

// Relocations, replicas set up and replicas dropped, by time.
void print_rates(const Allocation& allocation, const TableAllocation& table, std::size_t intervals,
                 std::FILE* out);

}  // namespace lapse::apps
