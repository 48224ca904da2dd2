// Reads the trace of allocation of one rank (docs/allocation-traces.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lapse::apps {

// A table as one rank saw it.
struct RankTable {
  std::int64_t made = 0;  // when, by the rank's clock
  std::uint64_t id = 0;
  std::string name;
  std::uint64_t keys = 0;  // 0: a sparse table
  std::string home;
  // Of each key's value, and of the value and its optimizer's state; 0: they differ, or the trace lacks them.
  std::uint64_t value_bytes = 0;
  std::uint64_t content_bytes = 0;
  std::uint64_t delta_bytes = 0;  // that a replica sends for its changes
  bool may_have_replicas = true;
  std::vector<std::int32_t> domains;  // of each rank
};

// From now on the rank's domain has this of a key. Times are nanoseconds of the rank's clock.
struct RankChange {
  std::int64_t time = 0;
  std::uint64_t key = 0;
  std::uint32_t table = 0;  // index into RankTrace::tables
  std::uint8_t state = 0;   // TraceState
};

// Intents of the rank's domain begin (`on`) or cease to want a key that the rank serves.
struct RankWant {
  std::int64_t time = 0;
  std::uint64_t key = 0;
  std::uint32_t table = 0;
  bool on = false;
};

// A worker of the rank accesses a key.
struct RankAccess {
  std::int64_t time = 0;
  std::uint64_t key = 0;
  std::uint32_t table = 0;
  std::uint8_t kind = 0;  // TraceAccess
};

struct RankPhase {
  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// Of the rank's clock minus rank 0's.
struct RankClock {
  std::int64_t time = 0;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
};

struct RankTrace {
  std::int32_t rank = 0;
  std::vector<std::int32_t> hosts;  // of each rank
  std::string host;
  std::vector<RankTable> tables;
  // ascending in time
  std::vector<RankChange> changes;
  std::vector<RankWant> wants;
  std::vector<RankAccess> accesses;
  std::vector<std::int64_t> rounds;  // when the rank sent changes of replicas
  std::vector<RankPhase> phases;
  std::vector<RankPhase> bands;  // named intervals of the program, in the order of their ends
  std::map<std::string, std::string> notes;
  std::vector<RankClock> clocks;
  std::int64_t begin = 0;
  std::int64_t end = 0;                 // of the last record
  std::optional<std::int64_t> dropped;  // when changes were no longer recorded
  bool is_closed = false;               // false: the program did not close its server
};

// `bytes`: a file's contents. What follows the last whole record, as in the file of a killed program, is
// ignored if it is the beginning of a record. Throws FileError, with the position, for everything else.
RankTrace parse_rank_trace(std::string_view bytes, const std::string& path);

// Only what the header says: the rank, hosts and begin. Throws FileError.
RankTrace read_rank_header(const std::string& path);

// Throws FileError.
RankTrace read_rank_trace(const std::string& path);
std::string trace_file_bytes(const std::string& path);

}  // namespace lapse::apps
