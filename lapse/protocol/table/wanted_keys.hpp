// How many intents want a key, for all keys that any wants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// A hash table of counts, with 16 bytes for an entry and two to four entries for a key, up to sixteen where
// many have ceased to be wanted. Only changes from and to zero matter to others.
//
// Linear probing; an entry that is removed leaves no gap (Knuth, volume 3, section 6.4, algorithm R). The
// table grows and shrinks without a pause: while it does, every change moves some entries from the old array
// to the new one. Calls of many keys have the cache misses of several in flight.
//
// Thread safety: none.
class WantedKeys {
 public:
  // One more want for each key; appends to `on` the keys that nothing wanted before. Throws std::bad_alloc;
  // then nothing has changed.
  void want(std::span<const Key> keys, std::vector<Key>& on);
  // One fewer for each key, which was wanted; appends to `off` the keys that nothing wants any more. Throws
  // std::bad_alloc likewise.
  void unwant(std::span<const Key> keys, std::vector<Key>& off);

  // For a key that is asked for soon.
  void prefetch(Key key) const {
    table_.prefetch(key);
    old_.prefetch(key);
  }
  // How many want the key.
  std::uint32_t count(Key key) const;
  // Keys that are wanted.
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
  // Entries of the old array that are passed at each change: it is empty before the new one is full again.
  static constexpr std::size_t kPassed = 8;

  struct Table {
    std::vector<Entry> entries;  // a power of two of them, or none

    std::size_t mask() const { return entries.size() - 1; }
    std::size_t place(Key key) const { return mix_bits(key.value()) & mask(); }
    void prefetch(Key key) const {
      if (!entries.empty()) __builtin_prefetch(&entries[place(key)], 1);
    }
    // The key's entry, or the free one where it would be. There is a free one.
    std::size_t find(Key key) const;
    void remove(std::size_t at);
  };

  // Room for one more key, at most so many after it.
  void make_room(std::size_t keys);
  void begin_resize(std::size_t entries);
  void move_some();
  // The entry of a key that is wanted, wherever it is; null when it is not wanted.
  Entry* find(Key key);

  Table table_;
  Table old_;               // what has not been moved yet
  std::size_t passed_ = 0;  // entries of it that are free for good
  std::size_t size_ = 0;
};

}  // namespace lapse
