// The home's knowledge: who owns each of its keys.
#pragma once

#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"

namespace lapse {

// One entry for each key whose home is here, by home index. Thread safety: the holder of the serving rank's
// progress lock. Only the home changes owners, and it handles requests strictly in arrival order: that is
// what orders all relocations of a key.
class OwnershipTable {
 public:
  struct Entry {
    Domain owner;
    std::uint32_t relocations = 0;  // how often the key has moved; wraps
  };

  OwnershipTable(std::uint64_t own_keys, Domain self) : entries_(own_keys, Entry{self, 0}) {}

  Domain owner(std::uint64_t home_index) const { return entries_[home_index].owner; }

  struct Change {
    Domain old_owner;
    std::uint32_t relocations;  // including this one
  };
  // The key belongs to `next` from now on.
  Change relocate(std::uint64_t home_index, Domain next) {
    Entry& entry = entries_[home_index];
    const Domain old = entry.owner;
    entry.owner = next;
    return {old, ++entry.relocations};
  }

  std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  std::vector<Entry> entries_;
};

}  // namespace lapse
