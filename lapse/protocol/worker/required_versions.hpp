// Which versions of keys a worker must not fall behind.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "lapse/core/mutex.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/table/unanswered_count.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

// Answers carry the version of the main copy. Where this domain's copy is older, the worker has seen or
// written something that the copy does not show yet: it reads and writes that copy directly only once its
// version is the required one or newer. The set is empty almost always; while it is not, the worker's count
// says so, and every access of the worker asks here first.
//
// A requirement ends when the worker finds the copy in that version or newer, or the key absent: on its next
// access to the key, or by a sweep, which each of its accesses makes over a few keys, as it may never return
// to them.
//
// Thread safety: raise by the holder of the progress lock, everything else by the worker. What was raised
// before an answer was counted (UnansweredCount::finish) is found once the worker has seen the count.
class RequiredVersions {
 public:
  // The count is the worker's.
  explicit RequiredVersions(UnansweredCount& count) : count_(count) {}
  RequiredVersions(const RequiredVersions&) = delete;
  RequiredVersions& operator=(const RequiredVersions&) = delete;

  // The worker requires this version of the key, or a newer one that it requires already. Throws
  // std::bad_alloc, having changed nothing.
  void raise(TableId table, Key key, Version version) LAPSE_REQUIRES(progress_role);

  bool empty() const { return !count_.requires_some(); }
  std::size_t size() const {
    const MutexLock guard(mutex_);
    return entries_.size();
  }
  // The version that the worker requires; nothing: any will do.
  std::optional<Version> find(TableId table, Key key) const {
    if ((filter_.load(std::memory_order_relaxed) & filter_bit({table, key})) == 0) return std::nullopt;
    return find_entry({table, key});
  }
  // Whether the worker may use the domain's replica of the key, if there is one (rule 23): whether it is no
  // older than the worker requires. `word`: the key's slot word, or null.
  bool are_met_by(const TableShard& table, Key key, const Store::Word* word);
  // The worker, which has no unanswered operation on the key, has found the copy in this version, or the key
  // absent.
  void found(TableId table, Key key, Version version);
  void found_absent(TableId table, Key key);
  // Copies of all keys are as new as anything that the worker has seen.
  void clear();

  // Asks is_over(table, key, version) for at most `most` keys, going round over all of them from call to
  // call, and removes those for which it is true: the copy has this version or a newer one, or the key is
  // absent. The worker may have unanswered operations on the keys. is_over runs without a lock; throws what
  // it throws.
  template <class IsOver>
  void sweep(std::size_t most, IsOver&& is_over) {
    for (; most > 0 && !empty(); --most) {
      const std::optional<Entry> entry = next();
      if (entry && is_over(entry->id.table, entry->id.key, entry->version)) remove_unchanged(*entry);
    }
  }

 private:
  struct Id {
    TableId table;
    Key key;
    bool operator==(const Id&) const = default;
  };
  struct Entry {
    Id id;
    Version version;
    std::uint64_t raised;  // which call of raise was the last for this key
  };
  static std::uint64_t hash(Id id) {
    return mix_bits(id.key.value() + (std::uint64_t{id.table.value()} << 48U));
  }
  struct Hash {
    std::size_t operator()(Id id) const { return hash(id); }
  };
  static std::uint64_t filter_bit(Id id) { return std::uint64_t{1} << (hash(id) >> 58U); }

  std::optional<Version> find_entry(Id id) const;
  // The next of the keys of a sweep; nothing where there is none.
  std::optional<Entry> next();
  // Unless the engine has raised the version of the key since: then what was found is out of date.
  void remove_unchanged(const Entry& entry);
  void remove(std::size_t at) LAPSE_REQUIRES(mutex_);
  void end() LAPSE_REQUIRES(mutex_);

  // constant
  UnansweredCount& count_;
  // self-synchronised
  mutable Mutex mutex_;                   // No other lock is taken under it.
  std::atomic<std::uint64_t> filter_{0};  // of the keys required since the set was empty
  // guarded by the mutex
  std::vector<Entry> entries_ LAPSE_GUARDED_BY(mutex_);
  std::unordered_map<Id, std::size_t, Hash> positions_ LAPSE_GUARDED_BY(mutex_);  // in entries_
  std::uint64_t raised_ LAPSE_GUARDED_BY(mutex_) = 0;
  std::size_t swept_ LAPSE_GUARDED_BY(mutex_) = 0;  // position of the next entry to be swept
};

}  // namespace lapse
