// Counts the intents that want each key, for all keys that any intent wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A hash table of counts with 16 bytes per entry. It has two to four entries per key, up to sixteen after
// many keys have ceased to be wanted. Only changes from and to zero matter to its callers.
//
// Linear probing; removing an entry leaves no gap (Knuth, volume 3, section 6.4, algorithm R). The table
// grows and shrinks without a pause: meanwhile, every change moves some entries from the old array to the new
// one. Calls with many keys overlap several cache misses.
//
// Thread safety: none.
class WantedKeys {
 public:
  // Adds a want of each key; appends the keys that were not wanted before to `on`. Throws std::bad_alloc and
  // then has no effect.
  void want(std::span<const Key> keys, std::vector<Key>& on);
  // Removes a want of each key, which must be wanted; appends the keys that are no longer wanted to `off`.
  // Throws what want throws.
  void unwant(std::span<const Key> keys, std::vector<Key>& off);

  // For a key that is used soon.
  void prefetch(Key key) const {
    table_.prefetch(key);
    old_.prefetch(key);
  }
  // Number of wants of the key.
  std::uint32_t count(Key key) const;
  // Number of wanted keys.
  std::size_t size() const { return size_; }
  std::size_t memory_bytes() const {
    return (table_.entries.capacity() + old_.entries.capacity()) * sizeof(Entry);
  }

 private:
  struct Entry {
    Key key;
    std::uint32_t count = 0;  // 0: the entry is free
    std::uint32_t unused = 0;
  };
  static_assert(sizeof(Entry) == 16);
  static constexpr std::size_t kFewest = 64;
  static constexpr std::size_t kAhead = 16;
  // Entries of the old array to move at each change. The old array is empty before the new one is full again.
  static constexpr std::size_t kPassed = 8;

  struct Table {
    std::vector<Entry> entries;  // a power of two of them, or none

    std::size_t mask() const { return entries.size() - 1; }
    std::size_t place(Key key) const { return mix_bits(key.value()) & mask(); }
    void prefetch(Key key) const {
      if (!entries.empty()) __builtin_prefetch(&entries[place(key)], 1);
    }
    // Returns the key's entry, or the free one where it would be. Requires a free entry.
    std::size_t find(Key key) const;
    void remove(std::size_t at);
  };

  // Makes space for one more key; at most `keys` will follow it.
  void make_room(std::size_t keys);
  void begin_resize(std::size_t entries);
  void move_some();
  // Returns the entry of a wanted key from either table; null if the key is not wanted.
  Entry* find(Key key);

  Table table_;
  Table old_;               // entries that have not been moved yet
  std::size_t passed_ = 0;  // entries of it that stay free
  std::size_t size_ = 0;
};

}  // namespace lapse
