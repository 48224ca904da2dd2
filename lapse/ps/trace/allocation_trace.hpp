// Writes what happens to the allocation of keys on one rank.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/options.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/ps/trace/clock_bounds.hpp"
#include "lapse/ps/trace/traced_selection.hpp"
#include "lapse/store/words/role_watch.hpp"

namespace lapse {

class Agreement;

// Collective; no engine runs. The beginning of the names of a server's files: the option, and what sets them
// apart from those of other servers of the job, such as those on other communicators. `job_rank`: of this
// process in the job.
std::string trace_prefix(const std::string& option, Rank job_rank, Agreement& agreement);

// The file "<prefix>.<rank>", in the format of lapse/core/tracing/allocation_records.hpp: the
// owners of the selected keys at the creation of their table, changes of what this rank's domain has of a key
// that the rank serves, and phases. Once the file has allocation_trace_bytes bytes, changes are dropped, and
// it says so. A failed write ends it.
//
// Thread safety: changes: the holder of the progress lock. Everything else: while no engine runs.
class AllocationTrace {
 public:
  struct Place {
    Rank rank;
    std::string prefix;               // trace_prefix
    std::vector<std::int32_t> hosts;  // of each rank
    std::string host_name;
  };
  // Throws FileError if the file cannot be created, ConfigurationError for a malformed selection.
  AllocationTrace(const Options& options, const Place& place);
  ~AllocationTrace();
  AllocationTrace(const AllocationTrace&) = delete;
  AllocationTrace& operator=(const AllocationTrace&) = delete;

  // Watches the selected keys, if there are any. Throws ConfigurationError for keys that the table lacks.
  // This object must outlive the engine.
  void add_table(TableShard& table) LAPSE_REQUIRES(progress_role);
  void begin_phase(std::string_view name);
  void end_phase();
  void add_clock(ClockBounds bounds);
  // Ends the file. Returns what went wrong with it; empty: nothing.
  std::string close();
  // Names in the selection that no table had.
  std::vector<std::string> unknown_tables() const;

 private:
  class Watch;
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  // Appends the beginning of a record, up to the time.
  void begin_record(std::uint8_t kind);
  // Allocates no memory.
  void append_change(Watch& table, Key key, std::uint8_t state);
  void flush();

  const std::string selection_;
  const std::uint64_t limit_;
  std::string path_;
  std::unique_ptr<std::FILE, CloseFile> file_;  // null once a write has failed, or after close
  std::string problem_;
  std::string records_;        // not in the file yet
  std::uint64_t written_ = 0;  // bytes in the file
  bool dropping_ = false;
  std::int64_t ticks_ = 0;  // of the last record
  std::vector<std::unique_ptr<Watch>> watches_;
  std::vector<std::string> names_;  // of tables
  const Watch* last_table_ = nullptr;
};

}  // namespace lapse
