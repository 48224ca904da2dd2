// From keys of 64 bits to their words, for tables whose keys are not known beforehand.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/region.hpp"

namespace lapse {

// A hash table that grows bucket by bucket (Litwin 1980, linear hashing): each insertion splits at most a few
// buckets, so nobody ever waits for a table to be copied. Entries are chained; they lie one after the other
// in memory that never moves, in the order of their insertion, and are never removed.
//
// Thread safety: insertion belongs to the holder of the serving rank's progress lock; everything else to any
// thread, also meanwhile.
//
// Invariants:
// 1. The word of a key keeps its address for ever.
// 2. A key that is found is found rightly, whatever is moved meanwhile: an entry's key never changes. Only
// not finding a key needs proof: no bucket was split during the search.
//
//   entry, 24 bytes:  | key 64 | word 64 | next entry of the bucket 32 | unused 32 |
//   bucket, 4 bytes:  | first entry 32 |           entries are numbered from 1, 0 ends a chain
class SparseWords {
 public:
  using Word = std::atomic<std::uint64_t>;

  // Reserves addresses for max_keys keys (at most 2^32 - 2) and commits a little. Throws OutOfMemory.
  SparseWords(RegionAllocator& regions, std::uint64_t max_keys);

  // Null when the key has never been inserted.
  Word* find(Key key) const {
    const Entry* entry = find_entry(key);
    return entry == nullptr ? nullptr : const_cast<Word*>(&entry->word);
  }
  // The key's number, 0, 1, 2, … in the order of insertion; it must have been inserted.
  std::uint32_t number(Key key) const { return static_cast<std::uint32_t>(find_entry(key) - entries_) - 1; }
  // The word of the key, inserted as zeroes when it is new. Throws OutOfMemory; then nothing has changed.
  Word& find_or_insert(Key key);

  // Keys ever inserted.
  std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
  // Calls f(key, word) for every key that was inserted before the call.
  template <class F>
  void for_each(F&& f) const {
    const std::uint64_t size = this->size();
    for (std::uint64_t i = 1; i <= size; ++i) f(Key(entries_[i].key), entries_[i].word);
  }

  // For batches, in this order, each some keys after the one before.
  void prefetch_bucket(Key key) const { __builtin_prefetch(&buckets_[bucket_of(key, state())]); }
  void prefetch_entry(Key key) const {
    __builtin_prefetch(&entries_[buckets_[bucket_of(key, state())].load(std::memory_order_relaxed)]);
  }

  // Any thread.
  std::size_t committed_bytes() const {
    return entry_bytes_.load(std::memory_order_relaxed) + bucket_bytes_.load(std::memory_order_relaxed);
  }

  static constexpr std::size_t kEntryBytes = 24;
  // Buckets are split so that there are at most three entries to four buckets.
  static constexpr std::size_t kBytesPerKey = kEntryBytes + 2 * sizeof(std::uint32_t);

 private:
  struct Entry {
    std::uint64_t key;
    Word word;
    std::atomic<std::uint32_t> next;
    std::uint32_t unused;
  };
  static_assert(sizeof(Entry) == kEntryBytes);
  using Bucket = std::atomic<std::uint32_t>;

  // Twice the number of buckets, plus 1 while one is being split: it only ever grows, so that equal states
  // mean that nothing was moved in between.
  std::uint64_t state() const { return state_.load(std::memory_order_acquire); }

  static std::uint64_t bucket_of(Key key, std::uint64_t state) {
    const std::uint64_t buckets = state >> 1;
    const std::uint64_t hash = mix_bits(key.value());
    const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(buckets - 1);
    const std::uint64_t bucket = hash & mask;
    return bucket < buckets ? bucket : bucket & (mask >> 1);
  }

  const Entry* find_entry(Key key) const {
    std::uint64_t state = this->state();
    for (;;) {
      std::uint32_t at = buckets_[bucket_of(key, state)].load(std::memory_order_acquire);
      while (at != 0) {
        const Entry& entry = entries_[at];
        if (entry.key == key.value()) return &entry;
        at = entry.next.load(std::memory_order_acquire);
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      const std::uint64_t now = state_.load(std::memory_order_relaxed);
      if (now == state && (now & 1) == 0) return nullptr;
      state = settled_state();
    }
  }
  // The state once no bucket is being split.
  std::uint64_t settled_state() const;
  void split_next();
  // Makes sure that `bytes` of the region are usable.
  void commit(Region& region, std::atomic<std::size_t>& committed, std::size_t bytes) const;

  // constant
  std::uint64_t max_keys_;
  std::unique_ptr<Region> entry_region_;
  std::unique_ptr<Region> bucket_region_;
  Entry* entries_;
  Bucket* buckets_;
  // self-synchronised
  std::atomic<std::uint64_t> state_;
  std::atomic<std::uint64_t> size_{0};
  // written under the progress lock: how much of the regions is usable
  std::atomic<std::size_t> entry_bytes_{0};
  std::atomic<std::size_t> bucket_bytes_{0};
  // constant, for errors
  std::string whose_;
};

}  // namespace lapse
