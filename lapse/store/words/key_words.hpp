// Stores the slot words of a domain's keys.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/store/words/slot_word.hpp"
#include "lapse/store/words/sparse_words.hpp"

namespace lapse {

// Dense: an array in which every key has a slot word from the start. Sparse: a hash table in which a key has
// a slot word once this domain stores something about the key; without one the key counts as absent.
//
// Thread safety: see SparseWords; any thread may use the slot words of a dense table.
class KeyWords {
 public:
  using Word = std::atomic<std::uint64_t>;

  // The keys 0 to keys - 1. Commits all slot words. Throws OutOfMemory.
  static KeyWords dense(RegionAllocator& regions, std::uint64_t keys);
  // Like dense above, in memory that is committed and zero, or that other ranks of the domain have used
  // since.
  static KeyWords dense(std::unique_ptr<Region> region, std::uint64_t keys);
  // Any keys, at most max_keys of them.
  static KeyWords sparse(RegionAllocator& regions, std::uint64_t max_keys);

  bool is_sparse() const { return dense_ == nullptr; }
  // The largest possible key.
  std::uint64_t last_key() const { return last_key_; }

  // Null for a key of a sparse table that has no slot word.
  Word* find(Key key) const {
    if (dense_ != nullptr) [[likely]]
      return &dense_[key.index()];
    return sparse_->find(key);
  }
  // The slot words of several keys, at most kMaxAtOnce, with overlapping cache misses.
  static constexpr std::size_t kMaxAtOnce = SparseWords::kMaxAtOnce;
  void find(std::span<const Key> keys, Word** words) const {
    if (is_sparse()) {
      sparse_->find(keys, words);
      return;
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      words[i] = &dense_[keys[i].index()];
      __builtin_prefetch(words[i]);
    }
  }
  // Requires the progress lock. Throws OutOfMemory.
  Word& find_or_insert(Key key) {
    if (sparse_) return sparse_->find_or_insert(key);
    return dense_[key.index()];
  }
  // Like find_or_insert, but returns null when out of memory.
  Word* find_or_try_insert(Key key);
  SlotWord load(Key key) const {
    const Word* word = find(key);
    return word == nullptr ? SlotWord() : SlotWord(word->load(std::memory_order_acquire));
  }
  // Sparse tables only. Returns the index of the key's entry.
  std::uint32_t number(const Word& word) const { return sparse_->number(word); }

  // Sparse: how many keys have a slot word, and how many may.
  std::uint64_t size() const { return sparse_->size(); }
  std::uint64_t max_keys() const { return sparse_->max_keys(); }
  // Calls f(key, word) for every key with a slot word.
  template <class F>
  void for_each(F&& f) const {
    if (sparse_) {
      sparse_->for_each(f);
    } else {
      for (std::uint64_t key = 0; key <= last_key_; ++key) f(Key(key), dense_[key]);
    }
  }

  // The slot words of a dense table, by key; null for a sparse table.
  Word* dense() const { return dense_; }
  // The lookup of a sparse table; null for a dense table.
  const SparseLookup* sparse() const { return sparse_.get(); }

  // For batches: far ahead, and nearer.
  void prefetch_far(Key key) const {
    if (sparse_) sparse_->prefetch_bucket(key);
  }
  void prefetch_near(Key key) const {
    if (sparse_) {
      sparse_->prefetch_entry(key);
    } else {
      __builtin_prefetch(&dense_[key.index()]);
    }
  }

  std::size_t committed_bytes() const;

 private:
  KeyWords() = default;

  std::unique_ptr<SparseWords> sparse_;
  std::unique_ptr<Region> region_;
  Word* dense_ = nullptr;
  std::uint64_t last_key_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace lapse
