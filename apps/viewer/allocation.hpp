// Where keys were and when they moved: the traces of all ranks on one axis of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/rank_trace.hpp"

namespace lapse::apps {

// From `time` on, a domain has this of a key. Times are nanoseconds since the first
// table with traced keys was made.
struct KeyChange {
  std::int64_t time = 0;
  std::uint64_t key = 0;
  std::int32_t domain = 0;
  std::uint8_t state = 0;  // TraceState
};

struct TableAllocation {
  std::string name;
  std::uint64_t keys = 0;  // 0: a sparse table
  std::string home;
  std::int32_t domains = 0;
  std::vector<KeyChange> changes;  // ascending in time
};

struct Allocation {
  std::vector<std::int32_t> hosts;  // of each rank
  std::vector<TableAllocation> tables;
  std::vector<RankPhase> phases;  // of rank 0
  std::int64_t duration = 0;
  std::vector<std::int32_t> incomplete;  // ranks that did not close their server
  std::optional<std::int64_t> dropped;   // from then on a rank did not record changes
};

// A main copy moved.
struct Relocation {
  std::int64_t time = 0;
  std::uint64_t key = 0;
  std::int32_t from = 0;
  std::int32_t to = 0;
};

// Merges traces of one run. Clocks of other hosts are corrected by their bounds, linearly between the first
// and the last ones. Throws ConfigurationError if a rank is missing or there twice, or ranks had different
// tables.
Allocation merge_traces(const std::vector<RankTrace>& traces);

// Reads "<prefix>.0", whose header has the number of ranks, and the files of the others. Throws FileError and
// ConfigurationError.
Allocation read_allocation(const std::string& prefix);
std::vector<std::string> trace_paths(const std::string& prefix);

// In the order of time.
std::vector<Relocation> relocations_of(const TableAllocation& table);

// What all domains had of one key at a time, by domain.
std::vector<std::uint8_t> states_at(const TableAllocation& table, std::uint64_t key, std::int64_t time);

struct KeyMoves {
  std::uint64_t key = 0;
  std::uint64_t relocations = 0;
  std::uint64_t returns = 0;  // to the domain that it came from
};

// The keys that moved, those that moved more often first.
std::vector<KeyMoves> moves_of(const TableAllocation& table);

}  // namespace lapse::apps
