// Writes what happens to the allocation of keys on one rank.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/tracing/allocation_records.hpp"
#include "lapse/core/tracing/note_listeners.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/key_observer.hpp"
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
// that the rank serves, and phases; also wants and accesses, if allocation_trace_events says so. Once the
// file has allocation_trace_bytes bytes, events of keys are dropped, and it says so. A failed write ends it.
//
// Thread safety: accessed, bands and notes: any thread. Changes, wanted, rounds: the holder of the
// progress lock. Everything else: while no engine runs.
class AllocationTrace final : public KeyObserver, private NoteListener {
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

  TraceEvents events() const { return events_; }
  // Another observer, which is notified of everything that this object is notified of as one.
  void forward_to(KeyObserver& other) { other_ = &other; }
  void wanted(TableId id, std::span<const Key> keys, bool on) override LAPSE_REQUIRES(progress_role)
      LAPSE_EXCLUDES(mutex_);
  void round_ended() override LAPSE_REQUIRES(progress_role) LAPSE_EXCLUDES(mutex_);
  void changes_sent() override LAPSE_REQUIRES(progress_role) LAPSE_EXCLUDES(mutex_);
  void accessed(const TableShard& shard, std::span<const Key> keys, Store::Reach reach,
                AccessKind kind) override LAPSE_EXCLUDES(mutex_);
  void leased(const TableShard& shard, std::span<const Key> keys, AccessKind kind) override
      LAPSE_EXCLUDES(mutex_);

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
  void band(std::string_view name, Time begin, Time end) override LAPSE_EXCLUDES(mutex_);
  void note(std::string_view name, std::string_view value) override LAPSE_EXCLUDES(mutex_);
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  void begin_file(const Place& place) LAPSE_EXCLUDES(mutex_);
  // Null if the table is not traced.
  Watch* find(TableId table) const {
    return table.index() < watches_.size() ? watches_[table.index()].get() : nullptr;
  }
  template <class IsRemote>
  void append_accesses(const TableShard& shard, std::span<const Key> keys, AccessKind kind,
                       IsRemote&& is_remote) LAPSE_EXCLUDES(mutex_);
  // Whether events are still recorded.
  bool takes_more(std::int64_t now) LAPSE_REQUIRES(mutex_);
  // Appends the beginning of a record, up to the time.
  void begin_record(std::uint8_t kind, std::int64_t now) LAPSE_REQUIRES(mutex_);
  void begin_record(TraceRecord kind) LAPSE_REQUIRES(mutex_);
  // Appends a record about a selected key, unless such are dropped. Allocates no memory.
  void append_key(Watch& table, Key key, std::uint8_t kind, std::int64_t now) LAPSE_REQUIRES(mutex_);
  void flush() LAPSE_REQUIRES(mutex_);

  const std::string selection_;
  const std::uint64_t limit_;
  const TraceEvents events_;
  const std::string path_;
  KeyObserver* other_ = nullptr;
  std::vector<std::unique_ptr<Watch>> watches_;  // by the numbers of tables; null: not traced
  std::vector<std::string> names_;               // of traced tables
  Mutex mutex_;
  std::unique_ptr<std::FILE, CloseFile> file_ LAPSE_GUARDED_BY(mutex_);  // null: a write failed, or closed
  std::string problem_ LAPSE_GUARDED_BY(mutex_);
  std::string records_ LAPSE_GUARDED_BY(mutex_);        // not in the file yet
  std::uint64_t written_ LAPSE_GUARDED_BY(mutex_) = 0;  // bytes in the file
  bool dropping_ LAPSE_GUARDED_BY(mutex_) = false;
  std::int64_t ticks_ LAPSE_GUARDED_BY(mutex_) = 0;    // of the last record
  std::int64_t flushed_ LAPSE_GUARDED_BY(mutex_) = 0;  // ticks when the records were last written
  const Watch* last_table_ LAPSE_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace lapse
