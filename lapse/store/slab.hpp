// Slots, carved from a region slab by slab. No heap object per key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lapse/store/region.hpp"

namespace lapse {

// A slot is named by the number of its first unit. Where all slots have one size, that is the unit; else a
// unit is 16 bytes and a slot has as many as it needs.
//
// Thread safety: allocate and release belong to the holder of the serving rank's progress lock; address may
// be called by any thread for a slot that a key's word names.
//
// Invariants:
// 1. A slot's address never changes, and its memory stays mapped until the allocator dies: a reader that
// loses a race
//    reads stale bytes, never an invalid address.
// 2. A released slot is linked through its own first bytes, so that free slots cost nothing; it serves slots
// of the same size again.
class SlabAllocator {
 public:
  // unit_bytes: a multiple of 16. Reserves addresses for max_units, commits nothing. Throws OutOfMemory.
  SlabAllocator(RegionAllocator& regions, std::size_t unit_bytes, std::uint64_t max_units);

  std::byte* address(std::uint32_t slot) const { return base_ + std::size_t{slot} * unit_bytes_; }
  std::size_t unit_bytes() const { return unit_bytes_; }

  // A slot with undefined contents. Throws OutOfMemory when no further slab can be committed.
  std::uint32_t allocate(std::uint32_t units = 1);
  // `units` as it was allocated.
  void release(std::uint32_t slot, std::uint32_t units = 1);

  // Commits what `units` more units need. Throws OutOfMemory.
  void commit_for(std::uint64_t units);

  std::uint64_t units_in_use() const { return in_use_; }
  // Any thread.
  std::size_t committed_bytes() const { return committed_bytes_.load(std::memory_order_relaxed); }

 private:
  // The released slots of one size, as a list.
  struct FreeList {
    std::uint32_t units;
    std::uint32_t head;
  };
  FreeList& free_list(std::uint32_t units);
  // Makes the first `units` units usable.
  void commit_up_to(std::uint64_t units);
  // One slab more, of which at least `needed` bytes will be used.
  void commit_next(std::size_t needed);

  // constant
  std::size_t unit_bytes_;
  std::uint64_t max_units_;
  std::unique_ptr<Region> region_;
  std::byte* base_;
  // written under the progress lock
  std::atomic<std::size_t> committed_bytes_{0};
  // guarded by the progress lock
  std::uint64_t used_units_ = 0;  // units ever handed out: the next fresh one
  std::uint64_t in_use_ = 0;
  std::vector<FreeList> free_;  // by units; few, as values have few different lengths
  // constant, for errors
  std::string whose_;
};

}  // namespace lapse
