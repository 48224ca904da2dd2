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

// Where the slots of a domain are stored, and which of them one rank gives out.
struct SlabSpace {
  std::unique_ptr<Region> region;
  std::uint64_t region_unit = 0;  // number of the unit at the beginning of the region
  std::uint64_t first_unit = 0;   // of those that this rank gives out; at a page boundary
  std::uint64_t max_units = 0;
};

// A slot is named by the number of its first unit. Where all slots have one size, a unit is a slot; else a
// unit is 16 bytes and a slot has as many as it needs.
//
// Thread safety: allocate and release belong to the holder of the serving rank's progress lock; address may
// be called by any thread for a slot that a key's slot word names.
//
// Invariants:
// 1. A slot's address never changes, and its memory stays mapped until the allocator dies: a reader that
//    loses a race reads stale bytes, never an invalid address.
// 2. A slot is given out, and a promise made, only where the units in use, those promised and the new ones
//    have memory: every promise can be kept.
// 3. Released slots are named in the memory of released slots, so that free slots cost nothing. A released
//    slot is used again for a slot of the same size.
class SlabAllocator {
 public:
  static constexpr std::uint64_t kRefusalsPerTry = 1024;

  // unit_bytes: a multiple of 16. Reserves addresses for max_units, commits nothing. Throws OutOfMemory.
  SlabAllocator(RegionAllocator& regions, std::size_t unit_bytes, std::uint64_t max_units);
  // In memory that is there already; `owner_label` begins the messages of errors.
  SlabAllocator(SlabSpace space, std::size_t unit_bytes, std::string owner_label);

  std::byte* address(std::uint32_t slot) const {
    return reinterpret_cast<std::byte*>(base_ + std::size_t{slot} * unit_bytes_);
  }
  std::size_t unit_bytes() const { return unit_bytes_; }

  // Whether this rank gave out the slot. Any thread.
  bool is_own(std::uint32_t slot) const { return slot - first_unit_ < max_units_; }

  // A slot with undefined contents. Throws OutOfMemory when no further slab can be committed.
  std::uint32_t allocate(std::uint32_t units = 1);
  // As allocate, but nothing in place of OutOfMemory. After a slab was refused, the system is asked again,
  // as memory may have been given back, only once in kRefusalsPerTry requests that need a new slab: asking
  // costs much more than a slot in another slab.
  std::optional<std::uint32_t> try_allocate(std::uint32_t units = 1);
  // --- promises, in an allocator whose slots all have one size ---

  // One slot more can be taken later, whatever is allocated meanwhile. Which slot is decided then: one that
  // was just released is still in the cache. Throws as allocate does; false as try_allocate gives nothing.
  void promise(std::uint32_t units = 1);
  bool try_promise(std::uint32_t units = 1);
  // Ends a promise: with the slot, or without.
  std::uint32_t take_promised(std::uint32_t units = 1) {
    promised_units_ -= units;
    return take(free_slots(units), units);
  }
  void withdraw_promise(std::uint32_t units = 1) { promised_units_ -= units; }

  // `units` as it was allocated.
  void release(std::uint32_t slot, std::uint32_t units = 1) {
    free_slots(units).push(slot, [this](std::uint32_t which) { return address(which); });
    in_use_ -= units;
  }

  // Commits what `units` more units need. Throws OutOfMemory.
  void commit_for(std::uint64_t units);
  // As commit_for, as far as there is memory; throws nothing.
  void try_commit_for(std::uint64_t units);

  // The units that this rank gives out.
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
    // The only ones where all slots have one size.
    if (!free_.empty() && free_.front().units == units) [[likely]]
      return free_.front().slots;
    return find_free_slots(units);
  }
  FreeSlots& find_free_slots(std::uint32_t units);
  // As try_allocate and try_promise, but what the region's commit throws, which is a reason, passes through.
  std::optional<std::uint32_t> allocate_if_room(std::uint32_t units);
  bool promise_if_room(std::uint32_t units);
  // Whether the first `units` units are usable; may commit a slab, or throw why it cannot.
  bool has_room(std::uint64_t units);
  // There is one.
  std::uint32_t take(FreeSlots& free, std::uint32_t units) {
    in_use_ += units;
    if (!free.empty()) return free.pop([this](std::uint32_t which) { return address(which); });
    const std::uint64_t slot = first_unit_ + used_units_;
    used_units_ += units;
    return static_cast<std::uint32_t>(slot);
  }
  // Makes the first `units` units usable; false when there is no memory, or what the region's commit throws.
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
  std::uint64_t used_units_ = 0;  // units ever given out, counted from first_unit_
  std::uint64_t refused_ = 0;     // requests since a slab was refused; 0: none was
  std::uint64_t in_use_ = 0;
  std::uint64_t promised_units_ = 0;
  std::vector<FreeOfSize> free_;  // by number of units; values have few different lengths
  // constant, for errors
  std::string owner_label_;
};

}  // namespace lapse
