// From keys of 64 bits to their words, for tables whose keys are not known beforehand.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

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
//   entry, 16 bytes:  | key 64 | word 64 |         entries are numbered from 1, 0 ends a chain
//   link, 4 bytes:    | next entry of the bucket 32 |   by entry; apart, as most searches end at the first
//   one bucket, 4 bytes:  | first entry 32 |
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
  // The number of the key whose word this is: 0, 1, 2, … in the order of insertion.
  std::uint32_t number(const Word& word) const {
    const auto distance =
        reinterpret_cast<const std::byte*>(&word) - reinterpret_cast<const std::byte*>(entries_);
    return static_cast<std::uint32_t>(static_cast<std::size_t>(distance) / kEntryBytes) - 1;
  }
  // The word of the key, inserted as zeroes when it is new. Throws OutOfMemory; then nothing has changed.
  Word& find_or_insert(Key key);

  // Keys that may be inserted in all.
  std::uint64_t most() const { return max_keys_; }
  // Keys ever inserted.
  std::uint64_t size() const { return size_.load(std::memory_order_acquire); }
  // Calls f(key, word) for every key that was inserted before the call.
  template <class F>
  void for_each(F&& f) const {
    const std::uint64_t size = this->size();
    for (std::uint64_t i = 1; i <= size; ++i) f(Key(entries_[i].key), entries_[i].word);
  }

  // Finds several keys, with the cache misses of all of them under way together. At most kMostAtOnce.
  static constexpr std::size_t kMostAtOnce = 32;
  void find(std::span<const Key> keys, Word** words) const;

  // For single keys in a known order: in this order, each some keys after the one before.
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

  // At most one entry to two buckets: a key that is there is on average found at the 1.25th entry.
  static constexpr std::uint64_t kBucketsPerKey = 2;
  static constexpr std::size_t kEntryBytes = 16;
  static constexpr std::size_t kBytesPerKey = kEntryBytes + (1 + kBucketsPerKey) * sizeof(std::uint32_t);

 private:
  using Link = std::atomic<std::uint32_t>;
  struct Entry {
    std::uint64_t key;
    Word word;
  };
  static_assert(sizeof(Entry) == kEntryBytes);

  // Twice the number of buckets, plus 1 while one is being split: it only ever grows, so that equal states
  // mean that nothing was moved in between.
  std::uint64_t state() const { return state_.load(std::memory_order_acquire); }

  // The upper half of a product, folded into the lower one: half the time of a mixer in which each bit
  // changes all others, and good enough that consecutive keys, strides and hashes spread alike.
  static std::uint64_t hash_of(std::uint64_t key) {
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = Wide{key ^ 0x9e3779b97f4a7c15U} * 0xd6e8feb86659fd93U;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }

  // The bucket for a hash in a state, which was loaded before.
  std::uint64_t bucket_of(std::uint64_t hash, std::uint64_t state) const {
    const std::uint64_t buckets = state >> 1;
    // At least as new as the state. A newer one may lead to another bucket: one that exists, and not finding
    // the key there proves nothing, as the state is not the same any more.
    const std::uint64_t mask = mask_.load(std::memory_order_relaxed);
    const std::uint64_t bucket = hash & mask;
    // Without a branch, as it could not be predicted.
    return bucket & (mask >> static_cast<unsigned>(bucket >= buckets));
  }

  const Entry* find_in_chain(std::uint32_t at, Key key) const {
    while (at != 0) {
      const Entry& entry = entries_[at];
      if (entry.key == key.value()) [[likely]]
        return &entry;
      at = links_[at].load(std::memory_order_acquire);
    }
    return nullptr;
  }

  const Entry* find_entry(Key key) const {
    const std::uint64_t hash = hash_of(key.value());
    std::uint64_t state = this->state();
    for (;;) {
      const std::uint32_t first = buckets_[bucket_of(hash, state)].load(std::memory_order_acquire);
      if (const Entry* entry = find_in_chain(first, key)) return entry;
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
  std::unique_ptr<Region> link_region_;
  std::unique_ptr<Region> bucket_region_;
  Entry* entries_;
  Link* links_;
  Link* buckets_;
  // self-synchronised
  std::atomic<std::uint64_t> state_;
  std::atomic<std::uint64_t> mask_;  // the lowest bits, as many as bucket numbers have
  std::atomic<std::uint64_t> size_{0};
  // written under the progress lock: how much of the regions is usable
  std::atomic<std::size_t> entry_bytes_{0};
  std::atomic<std::size_t> link_bytes_{0};
  std::atomic<std::size_t> bucket_bytes_{0};
  // constant, for errors
  std::string whose_;
};

}  // namespace lapse
