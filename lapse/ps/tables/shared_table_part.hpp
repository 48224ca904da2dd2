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

// The memory outlives this object and what is made from it.
class SharedTablePart {
 public:
  // `base` is where the domain's memory is on this rank, `position` the rank's position among the domain's
  // members; free_bytes: see MappedRegion; `notify` is called when the domain's first value goes to private
  // memory, on one rank.
  SharedTablePart(std::byte* base, SharedTableLayout layout, std::size_t position, std::uint64_t home_keys,
                  std::function<std::size_t()> free_bytes, std::function<void()> notify);

  // Takes this rank's share of the pages of slot words, owners and dirty set, and writes owners there: every
  // key is at home. False when there is no memory. Once all members have done so, the other functions may be
  // called.
  bool commit(Domain self);

  // Once no rank uses the memory any more: its pages go back to the system. The addresses stay.
  void give_back() const;

  KeyWords words(std::uint64_t keys) const;
  std::span<OwnershipTable::Entry> owners() const;
  // Of the slots of all members, by the numbers of units in slot words; of no unit where keys have no copies.
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
