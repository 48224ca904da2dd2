// Slots, carved from a region slab by slab. No heap object per key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lapse/store/memory/free_slots.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse {

// The memory of a domain's slots, and the part of it that this rank allocates from.
struct SlabSpace {
  std::unique_ptr<Region> region;
  std::uint64_t region_unit = 0;  // number of the region's first unit
  std::uint64_t first_unit = 0;   // of those that this rank allocates; at a page boundary
  std::uint64_t max_units = 0;
};

// A slot is named by the number of its first unit. If all slots have one size, a unit is a slot; otherwise a
// unit is 16 bytes and a slot has as many as it needs.
//
// Thread safety: allocate and release by the holder of the serving rank's progress lock; address by any
// thread, for a slot that a key's slot word names.
//
// Invariants:
// 1. A slot's address never changes, and its memory stays mapped until the allocator is destroyed: a reader
//    that loses a race reads stale bytes, never an invalid address.
// 2. A slot is allocated, and a promise made, only if the units in use, the promised and the new ones have
//    memory: every promise can be kept.
// 3. The list of released slots is stored in released slots, so free slots cost nothing. A released slot is
//    reused only for a slot of the same size.
class SlabAllocator {
 public:
  static constexpr std::uint64_t kRefusalsPerTry = 1024;

  // unit_bytes: a multiple of 16. Reserves addresses for max_units, commits nothing. Throws OutOfMemory.
  SlabAllocator(RegionAllocator& regions, std::size_t unit_bytes, std::uint64_t max_units);
  // Uses existing memory; `owner_label` begins error messages.
  SlabAllocator(SlabSpace space, std::size_t unit_bytes, std::string owner_label);

  std::byte* address(std::uint32_t slot) const {
    return reinterpret_cast<std::byte*>(base_ + std::size_t{slot} * unit_bytes_);
  }
  std::size_t unit_bytes() const { return unit_bytes_; }

  // Whether this rank allocated the slot. Any thread.
  bool is_own(std::uint32_t slot) const { return slot - first_unit_ < max_units_; }

  // Returns a slot with undefined contents. Throws OutOfMemory if no further slab can be committed.
  std::uint32_t allocate(std::uint32_t units = 1);
  // Like allocate, but returns nullopt when out of memory. After a slab was refused, asks the system again
  // only once per kRefusalsPerTry requests that need a new slab: memory may have been freed, but asking costs
  // much more than a slot in another slab.
  std::optional<std::uint32_t> try_allocate(std::uint32_t units = 1);
  // --- promises, in an allocator whose slots all have one size ---

  // Promises that one more slot can be taken later, whatever is allocated meanwhile. The slot is chosen when
  // it is taken: one just released is still in the cache. promise throws what allocate throws; try_promise
  // returns false when out of memory.
  void promise(std::uint32_t units = 1);
  bool try_promise(std::uint32_t units = 1);
  // Ends a promise: take_promised with the slot, withdraw_promise without.
  std::uint32_t take_promised(std::uint32_t units = 1) {
    promised_units_ -= units;
    return take(free_slots(units), units);
  }
  void withdraw_promise(std::uint32_t units = 1) { promised_units_ -= units; }

  // `units`: the number passed to allocate.
  void release(std::uint32_t slot, std::uint32_t units = 1) {
    free_slots(units).push(slot, [this](std::uint32_t which) { return address(which); });
    in_use_ -= units;
  }

  // Commits memory for `units` more units. Throws OutOfMemory.
  void commit_for(std::uint64_t units);
  // Like commit_for, as far as memory is available. Never throws.
  void try_commit_for(std::uint64_t units);

  // The units that this rank allocates.
  std::uint64_t first_unit() const { return first_unit_; }
  std::uint64_t max_units() const { return max_units_; }
  std::uint64_t units_in_use() const { return in_use_; }
  // Any thread.
  std::size_t committed_bytes() const { return committed_bytes_.load(std::memory_order_relaxed); }

 private:
  struct FreeOfSize {
    std::uint32_t units;
    FreeSlots slots;
  };
  FreeSlots& free_slots(std::uint32_t units) {
    // The only ones if all slots have one size.
    if (!free_.empty() && free_.front().units == units) [[likely]]
      return free_.front().slots;
    return find_free_slots(units);
  }
  FreeSlots& find_free_slots(std::uint32_t units);
  // Like try_allocate and try_promise. Exceptions of Region::commit propagate; they explain the failure.
  std::optional<std::uint32_t> allocate_if_room(std::uint32_t units);
  bool promise_if_room(std::uint32_t units);
  // Whether the first `units` units are usable. May commit a slab, or throw why it cannot.
  bool has_room(std::uint64_t units);
  // Requires a free slot.
  std::uint32_t take(FreeSlots& free, std::uint32_t units) {
    in_use_ += units;
    if (!free.empty()) return free.pop([this](std::uint32_t which) { return address(which); });
    const std::uint64_t slot = first_unit_ + used_units_;
    used_units_ += units;
    return static_cast<std::uint32_t>(slot);
  }
  // Makes the first `units` units usable. Returns false if out of memory, or throws what the region's commit
  // throws.
  bool try_commit_up_to(std::uint64_t units);
  [[noreturn]] void throw_exhausted(std::uint32_t units) const;

  // constant
  std::size_t unit_bytes_;
  std::uint64_t first_unit_ = 0;
  std::uint64_t max_units_;
  std::unique_ptr<Region> region_;
  std::size_t first_offset_ = 0;  // of this rank's units in the region
  std::uintptr_t base_;           // where unit 0 would be
  // written under the progress lock
  std::atomic<std::size_t> committed_bytes_{0};
  // guarded by the progress lock
  std::uint64_t used_units_ = 0;  // units ever allocated, counted from first_unit_
  std::uint64_t refused_ = 0;     // requests since a slab was refused; 0: none was
  std::uint64_t in_use_ = 0;
  std::uint64_t promised_units_ = 0;
  std::vector<FreeOfSize> free_;  // by number of units; values have few different lengths
  // constant, for errors
  std::string owner_label_;
};

}  // namespace lapse
