// Where keys were and when they moved: the traces of all ranks on one axis of time.
#pragma once

#include <cstdint>
#include <map>
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

// Intents of a domain begin (`on`) or cease to want a key.
struct KeyWant {
  std::int64_t time = 0;
  std::uint64_t key = 0;
  std::int32_t domain = 0;
  bool on = false;
};

// A worker of a domain accesses a key.
struct KeyAccess {
  std::int64_t time = 0;
  std::uint64_t key = 0;
  std::int32_t domain = 0;
  std::uint8_t kind = 0;  // TraceAccess
};

struct TableAllocation {
  std::string name;
  std::uint64_t keys = 0;  // 0: a sparse table
  std::string home;
  // Of each key's value, and of the value and its optimizer's state; 0: they differ, or the trace lacks them.
  std::uint64_t value_bytes = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t delta_bytes = 0;  // that a replica sends for its changes
  bool may_have_replicas = true;
  std::int32_t domains = 0;
  // ascending in time
  std::vector<KeyChange> changes;
  std::vector<KeyWant> wants;
  std::vector<KeyAccess> accesses;
  std::vector<std::vector<std::int64_t>> rounds;  // of each domain, those of its rank with the largest number
};

struct Allocation {
  std::vector<std::int32_t> hosts;  // of each rank
  std::vector<TableAllocation> tables;
  // of rank 0
  std::vector<RankPhase> phases;
  std::vector<RankPhase> bands;
  std::map<std::string, std::string> notes;
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

// Removes the events after a time.
void forget_after(Allocation& allocation, std::int64_t time);

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
