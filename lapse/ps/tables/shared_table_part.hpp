// One rank's part of the memory that its domain shares for a table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "lapse/directory/ownership_table.hpp"
#include "lapse/ps/tables/shared_table_layout.hpp"
#include "lapse/store/dirty_set.hpp"
#include "lapse/store/memory/slab.hpp"
#include "lapse/store/store.hpp"
#include "lapse/store/words/key_words.hpp"

namespace lapse {

// The memory outlives this object and everything made from it.
class SharedTablePart {
 public:
  // `base`: address of the domain's memory on this rank. `position`: of the rank among the domain's members.
  // `free_bytes`: see MappedRegion. `notify` is called on one rank, when the domain's first value goes to
  // private memory.
  SharedTablePart(std::byte* base, SharedTableLayout layout, std::size_t position, std::uint64_t home_keys,
                  std::function<std::size_t()> free_bytes, std::function<void()> notify);

  // Commits this rank's share of the pages of slot words, owners and dirty set, and writes owners there:
  // every key is at home. Returns false if out of memory. The other functions may be called once all members
  // have done so.
  bool commit(Domain self);

  // Returns the pages to the system, once no rank uses the memory any more. The addresses stay valid.
  void give_back() const;

  KeyWords words(std::uint64_t keys) const;
  std::span<OwnershipTable::Entry> owners() const;
  // Marks the slots of all members, by the unit numbers in slot words. Empty if keys have no replicas.
  DirtySet dirty_set() const;
  SlabSpace slots() const;
  Store::Overflow overflow(RegionAllocator& private_regions, std::string owner_label = "a table") const;

 private:
  const SharedTableLayout::Part& part() const { return layout_.parts[position_]; }

  std::byte* base_;
  SharedTableLayout layout_;
  std::size_t position_;
  std::uint64_t home_keys_;
  std::function<std::size_t()> free_bytes_;
  std::function<void()> notify_;
};

}  // namespace lapse
