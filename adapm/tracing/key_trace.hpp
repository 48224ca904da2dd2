// Writes down what happens to single keys (paper, figure 15).
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

// What it means that a key's role in a domain has changed: "copy_set_up", "key_left". Pure.
std::string_view role_change_name(lapse::Role before, lapse::Role after);

// One file for each rank, of JSON lines, which docs/adaptive-management.md describes: wants and roles of keys
// that the rank serves, and the accesses of its workers, added up over a round.
//
// Thread safety: accessed by any thread; wanted, round_ended and changes of roles by the holder of the
// progress lock; everything else while no engine runs.
class KeyTrace final : public lapse::KeyObserver {
 public:
  // Keys by the names of their tables. Writes to the file `path`, to which the rank is appended. Throws
  // ConfigurationError where the file cannot be made.
  KeyTrace(std::map<std::string, std::vector<lapse::Key>> keys, const std::string& path, lapse::Rank rank);
  ~KeyTrace();
  KeyTrace(const KeyTrace&) = delete;
  KeyTrace& operator=(const KeyTrace&) = delete;

  // Times are counted from now on.
  void start() { start_ = Clock::now(); }
  // The object outlives the table's engine. Throws ConfigurationError where the table cannot have a key that
  // is to be traced.
  void add_table(const lapse::TableHandle& table);
  // Writes what is not in the file yet. False where that has failed once.
  bool flush();
  // Names of tables that were to be traced, and were not added.
  std::vector<std::string> unknown_tables() const;

  void wanted(lapse::TableId table, std::span<const lapse::Key> keys, bool on) override
      LAPSE_REQUIRES(lapse::progress_role);
  void round_ended() override LAPSE_REQUIRES(lapse::progress_role);
  void accessed(const lapse::TableShard& table, std::span<const lapse::Key> keys,
                lapse::Store::Reach reach) override;

 private:
  using Clock = std::chrono::steady_clock;
  enum class Access : std::uint8_t { main, copy, remote };
  using Counts = std::array<std::atomic<std::uint64_t>, 3>;
  class TracedTable;

  // Null where none of its keys is traced.
  TracedTable* find(lapse::TableId table) const {
    return table.index() < tables_.size() ? tables_[table.index()].get() : nullptr;
  }
  // A line about a key; `rest`: what follows its event.
  void write(const TracedTable& table, lapse::Key key, std::string_view event, std::string_view rest = "");
  // The accesses since the last time.
  void write_accesses();
  void write_file();

  // constant
  const std::map<std::string, std::vector<lapse::Key>> keys_;
  const lapse::Rank rank_;
  Clock::time_point start_ = Clock::now();
  std::vector<std::unique_ptr<TracedTable>> tables_;  // by id
  // guarded by the progress lock
  std::FILE* file_;
  std::string lines_;  // that are not in the file yet
  bool failed_ = false;
};

}  // namespace adapm
