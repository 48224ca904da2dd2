// The least versions of keys that a worker may read.
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

// Answers carry the version of the main copy. If this domain's replica is older, the worker has seen or
// written something that the replica does not show yet. The worker then accesses that replica directly only
// once it has the required version or a newer one. The set is nearly always empty. While it is not, the
// worker's count says so, and every access of the worker checks the set first.
//
// A requirement ends when the worker finds the replica in that version or newer, or the key absent. It checks
// on its next access to the key, or in a sweep over a few keys that is part of each of its accesses, because
// it may never return to the key.
//
// Thread safety: raise: the holder of the progress lock. Everything else: the worker. Once the worker has
// seen an answer counted (UnansweredCount::finish), it finds what was raised before that.
class RequiredVersions {
 public:
  // `count`: the worker's.
  explicit RequiredVersions(UnansweredCount& count) : count_(count) {}
  RequiredVersions(const RequiredVersions&) = delete;
  RequiredVersions& operator=(const RequiredVersions&) = delete;

  // Requires this version of the key from now on, unless a newer one is required already. Throws
  // std::bad_alloc and then has no effect.
  void raise(TableId table, Key key, Version version) LAPSE_REQUIRES(progress_role);

  bool empty() const { return !count_.requires_some(); }
  std::size_t size() const {
    const MutexLock guard(mutex_);
    return entries_.size();
  }
  // Returns the version that the worker requires; nullopt: any version will do.
  std::optional<Version> find(TableId table, Key key) const {
    if ((filter_.load(std::memory_order_relaxed) & filter_bit({table, key})) == 0) return std::nullopt;
    return find_entry({table, key});
  }
  // Whether the worker may use the domain's replica of the key, if there is one (rule 23): it is not older
  // than the worker requires. `word`: the key's slot word, or null.
  bool are_met_by(const TableShard& table, Key key, const Store::Word* word);
  // The worker has found the replica in this version, or the key absent. Requires that it has no unanswered
  // operation on the key.
  void found(TableId table, Key key, Version version);
  void found_absent(TableId table, Key key) { found(table, key, Version(UINT64_MAX)); }
  // Drops all requirements: the replicas of all keys are as new as anything that the worker has seen.
  void clear();

  // Calls is_over(table, key, version) for at most `most` keys, the next ones in a cycle over all, and
  // removes those for which it is true: the replica has this version or a newer one, or the key is absent.
  // The worker may have unanswered operations on the keys. is_over runs without a lock; its exceptions
  // propagate.
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
    std::uint64_t raised;  // number of the last call of raise for this key
  };
  static std::uint64_t hash(Id id) {
    return mix_bits(id.key.value() + (std::uint64_t{id.table.value()} << 48U));
  }
  struct Hash {
    std::size_t operator()(Id id) const { return hash(id); }
  };
  static std::uint64_t filter_bit(Id id) { return std::uint64_t{1} << (hash(id) >> 58U); }

  std::optional<Version> find_entry(Id id) const;
  // Returns the next key of a sweep; nullopt if there is none.
  std::optional<Entry> next();
  // Removes the entry, unless the engine has raised the key's version since: then the finding is out of date.
  void remove_unchanged(const Entry& entry);
  void remove(std::size_t at) LAPSE_REQUIRES(mutex_);
  void end() LAPSE_REQUIRES(mutex_);

  // constant
  UnansweredCount& count_;
  // self-synchronised
  mutable Mutex mutex_;                   // No other lock is taken under it.
  std::atomic<std::uint64_t> filter_{0};  // of all keys required since the set was last empty
  // guarded by the mutex
  std::vector<Entry> entries_ LAPSE_GUARDED_BY(mutex_);
  std::unordered_map<Id, std::size_t, Hash> positions_ LAPSE_GUARDED_BY(mutex_);  // in entries_
  std::uint64_t raised_ LAPSE_GUARDED_BY(mutex_) = 0;
  std::size_t swept_ LAPSE_GUARDED_BY(mutex_) = 0;  // position of the next entry to be swept
};

}  // namespace lapse
