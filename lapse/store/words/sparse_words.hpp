// Maps 64-bit keys to their slot words, for tables whose keys are not known in advance.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/store/words/sparse_lookup.hpp"

namespace lapse {

// A hash table that grows bucket by bucket (Litwin 1980, linear hashing). Each insertion splits at most a few
// buckets, so no thread ever waits for a table to be copied. Entries are chained and never removed; they are
// stored in insertion order in memory that never moves.
//
// Thread safety: insertion by the holder of the serving rank's progress lock; everything else by any thread,
// even meanwhile.
//
// Invariants, in addition to that of SparseLookup:
// 1. A key's slot word keeps its address during this object's lifetime.
class SparseWords : public SparseLookup {
 public:
  // Reserves addresses for max_keys keys (at most 2^32 - 2) and commits a little. Throws OutOfMemory.
  SparseWords(RegionAllocator& regions, std::uint64_t max_keys);

  // The number of this slot word's key: 0, 1, 2, … in insertion order.
  std::uint32_t number(const Word& word) const {
    const auto distance =
        reinterpret_cast<const std::byte*>(&word) - reinterpret_cast<const std::byte*>(entries_);
    return static_cast<std::uint32_t>(static_cast<std::size_t>(distance) / kEntryBytes) - 1;
  }
  // The key's slot word, inserted as zero if new. Throws OutOfMemory, with no effect.
  Word& find_or_insert(Key key);

  // The largest number of keys that may be inserted.
  std::uint64_t max_keys() const { return max_keys_; }
  // Keys ever inserted.
  std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
  // Calls f(key, word) for every key that was inserted before the call.
  template <class F>
  void for_each(F&& f) const {
    const std::uint64_t size = this->size();
    for (std::uint64_t i = 1; i <= size; ++i) f(Key(entries_[i].key), entries_[i].word);
  }

  // Finds several keys, at most kMaxAtOnce, with overlapping cache misses.
  using SparseLookup::find;
  static constexpr std::size_t kMaxAtOnce = 32;
  LAPSE_EXPORT_INNER void find(std::span<const Key> keys, Word** words) const;

  // Prefetching for single keys in a known order: call in this order, each step some keys after the previous
  // one.
  void prefetch_bucket(Key key) const {
    __builtin_prefetch(&buckets_[bucket_of(hash_of(key.value()), state())]);
  }
  void prefetch_entry(Key key) const {
    __builtin_prefetch(
        &entries_[buckets_[bucket_of(hash_of(key.value()), state())].load(std::memory_order_relaxed)]);
  }

  // Any thread.
  std::size_t committed_bytes() const {
    return entry_bytes_.load(std::memory_order_relaxed) + link_bytes_.load(std::memory_order_relaxed) +
           bucket_bytes_.load(std::memory_order_relaxed);
  }

  // At most one entry per two buckets: an existing key is found at the 1.25th entry on average.
  static constexpr std::uint64_t kBucketsPerKey = 2;
  static constexpr std::size_t kEntryBytes = 16;
  static constexpr std::size_t kBytesPerKey = kEntryBytes + (1 + kBucketsPerKey) * sizeof(std::uint32_t);

  static_assert(sizeof(Entry) == kEntryBytes);

 private:
  void split_next();
  // Ensures that `bytes` of the region are usable.
  void commit(Region& region, std::atomic<std::size_t>& committed, std::size_t bytes) const;

  // constant
  std::uint64_t max_keys_;
  std::unique_ptr<Region> entry_region_;
  std::unique_ptr<Region> link_region_;
  std::unique_ptr<Region> bucket_region_;
  // self-synchronised
  std::atomic<std::uint64_t> size_{0};
  // written under the progress lock: usable bytes of the regions
  std::atomic<std::size_t> entry_bytes_{0};
  std::atomic<std::size_t> link_bytes_{0};
  std::atomic<std::size_t> bucket_bytes_{0};
  // constant, for errors
  std::string owner_label_;
};

}  // namespace lapse
