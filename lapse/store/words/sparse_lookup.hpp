// Finds the slot words of keys that are not known in advance.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// The part of SparseWords that an access needs: the arrays of the hash table and the lookup.
//
// Thread safety: any thread, even while SparseWords inserts a key or splits a bucket.
//
// Invariant: a found entry is the right one, whatever moves meanwhile, because an entry's key never changes.
// Only a failed lookup needs proof: no bucket was split during it.
//
//   entry, 16 bytes:      | key 64 | slot word 64 |  entries are numbered from 1, 0 ends a chain
//   link, 4 bytes:        | next entry of the bucket 32 |  by entry; apart, as most searches end at the first
//   one bucket, 4 bytes:  | first entry 32 |
class SparseLookup {
 public:
  using Word = std::atomic<std::uint64_t>;

  // Null if the key was never inserted.
  Word* find(Key key) const {
    const Entry* entry = find_entry(key);
    return entry == nullptr ? nullptr : const_cast<Word*>(&entry->word);
  }
  // The key of a slot word of this table.
  static Key key_of(const Word& word) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&word) - sizeof(std::uint64_t);
    return Key(reinterpret_cast<const Entry*>(bytes)->key);
  }

 protected:
  using Link = std::atomic<std::uint32_t>;
  struct Entry {
    std::uint64_t key;
    Word word;
  };

  static_assert(sizeof(Entry) == sizeof(std::uint64_t) + sizeof(Word));

  explicit SparseLookup(std::uint64_t buckets) : state_(2 * buckets), mask_(buckets - 1) {}
  ~SparseLookup() = default;

  // Twice the number of buckets, plus 1 while one is being split. It only grows, so equal states mean that
  // nothing moved in between.
  std::uint64_t state() const { return state_.load(std::memory_order_acquire); }

  // The upper half of a product, folded into the lower one: half the time of a mixer in which each bit
  // changes all others, and good enough to spread consecutive keys, strides and hashes.
  static std::uint64_t hash_of(std::uint64_t key) {
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = Wide{key ^ 0x9e3779b97f4a7c15U} * 0xd6e8feb86659fd93U;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
  }

  // The bucket for a hash in a previously loaded state.
  std::uint64_t bucket_of(std::uint64_t hash, std::uint64_t state) const {
    const std::uint64_t buckets = state >> 1;
    // The mask is at least as new as the state. A newer one may lead to another existing bucket; not finding
    // the key there proves nothing, as the state has changed.
    const std::uint64_t mask = mask_.load(std::memory_order_relaxed);
    const std::uint64_t bucket = hash & mask;
    // Branchless, as a branch could not be predicted.
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
  // Returns the state once no bucket is being split.
  LAPSE_EXPORT_INNER std::uint64_t settled_state() const;

  // constant once the memory is reserved
  Entry* entries_ = nullptr;
  Link* links_ = nullptr;
  Link* buckets_ = nullptr;
  // self-synchronised
  std::atomic<std::uint64_t> state_;
  std::atomic<std::uint64_t> mask_;  // the lowest bits, as many as bucket numbers have
};

}  // namespace lapse
