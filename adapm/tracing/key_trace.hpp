// Traces what happens to single keys (paper, figure 15).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/role_table.hpp"
#include "lapse/protocol/table/key_observer.hpp"
#include "lapse/ps/table.hpp"
#include "lapse/store/words/role_watch.hpp"

namespace adapm {

// The name of a change of a key's role in a domain, e.g. "copy_set_up", "key_left".
std::string_view role_change_name(lapse::Role before, lapse::Role after);

// Writes one file of JSON lines on each rank, described in docs/adaptive-management.md: wants and roles of
// the keys that the rank serves, and accesses of its workers, summed over a round.
//
// Thread safety: accessed: any thread. wanted, round_ended and changes of roles: the holder of the progress
// lock. Everything else: while no engine runs.
class KeyTrace final : public lapse::KeyObserver {
 public:
  // `keys`: by the names of their tables. Writes to the file "<path>.<rank>". Throws ConfigurationError if
  // the file cannot be created.
  KeyTrace(std::map<std::string, std::vector<lapse::Key>> keys, const std::string& path, lapse::Rank rank);
  ~KeyTrace();
  KeyTrace(const KeyTrace&) = delete;
  KeyTrace& operator=(const KeyTrace&) = delete;

  // Sets the zero of times in the trace.
  void start() { start_ = Clock::now(); }
  // The object must outlive the table's engine. Throws ConfigurationError if the table cannot have a key to
  // trace.
  void add_table(const lapse::TableHandle& table);
  // Writes pending lines to the file. Returns false if any write has failed.
  bool flush();
  // Names of tables to trace that were not added.
  std::vector<std::string> unknown_tables() const;

  void wanted(lapse::TableId id, std::span<const lapse::Key> keys, bool on) override
      LAPSE_REQUIRES(lapse::progress_role);
  void round_ended() override LAPSE_REQUIRES(lapse::progress_role);
  void accessed(const lapse::TableShard& shard, std::span<const lapse::Key> keys, lapse::Store::Reach reach,
                lapse::AccessKind kind) override;

 private:
  using Clock = std::chrono::steady_clock;
  using Counts = std::array<std::atomic<std::uint64_t>, 3>;  // by lapse::AccessPlace
  class TracedTable;

  // Null if none of its keys is traced.
  TracedTable* find(lapse::TableId table) const {
    return table.index() < tables_.size() ? tables_[table.index()].get() : nullptr;
  }
  // Appends a line about a key. `rest`: the text after its event.
  void write(const TracedTable& table, lapse::Key key, std::string_view event, std::string_view rest = "");
  // Appends the accesses since the last call.
  void write_accesses();
  void write_file();

  // constant
  const std::map<std::string, std::vector<lapse::Key>> keys_;
  const lapse::Rank rank_;
  Clock::time_point start_ = Clock::now();
  std::vector<std::unique_ptr<TracedTable>> tables_;  // by id
  // guarded by the progress lock
  std::FILE* file_;
  std::string lines_;  // not in the file yet
  bool failed_ = false;
};

}  // namespace adapm
