// A set of keys that is emptied at no cost.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// A hash table, at most half full, with 16 bytes for each entry. Each entry carries the number of its set.
// Keeps the memory of the largest set so far.
//
// Thread safety: none.
class KeySet {
 public:
  void clear() {
    ++number_;
    size_ = 0;
  }
  std::size_t size() const { return size_; }

  // Returns false if the set has the key already. Throws std::bad_alloc; then the set is unchanged.
  bool insert(lapse::Key key) {
    if (2 * (size_ + 1) > entries_.size()) grow();
    Entry& entry = entries_[place(key)];
    if (entry.set == number_) return false;
    entry = {key, number_};
    ++size_;
    return true;
  }
  std::size_t memory_bytes() const { return entries_.capacity() * sizeof(Entry); }
  bool contains(lapse::Key key) const { return !entries_.empty() && entries_[place(key)].set == number_; }

 private:
  static constexpr std::size_t kFewest = 32;

  struct Entry {
    lapse::Key key;
    std::uint64_t set = 0;
  };

  // The index of the key's entry, or of the entry for inserting it.
  std::size_t place(lapse::Key key) const {
    const std::size_t mask = entries_.size() - 1;
    std::size_t at = lapse::mix_bits(key.value()) & mask;
    while (entries_[at].set == number_ && entries_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Entry> before(entries_.empty() ? kFewest : 2 * entries_.size());
    before.swap(entries_);
    for (const Entry& entry : before) {
      if (entry.set == number_) entries_[place(entry.key)] = entry;
    }
  }

  std::vector<Entry> entries_;
  std::uint64_t number_ = 1;
  std::size_t size_ = 0;
};

}  // namespace adapm
