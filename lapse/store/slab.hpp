// Slots of one size, carved from a region slab by slab. No heap object per key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "lapse/store/region.hpp"

namespace lapse {

// Thread safety: allocate and release belong to the holder of the serving rank's progress lock; address may
// be called by any thread for a slot that a key's word names.
//
// Invariants:
// 1. A slot's address never changes, and its memory stays mapped until the allocator dies: a reader that
// loses a race
//    reads stale bytes, never an invalid address.
// 2. A released slot is linked through its own first bytes, so that free slots cost nothing.
class SlabAllocator {
 public:
  // slot_bytes: a multiple of 16. Reserves addresses for max_slots, commits nothing. Throws OutOfMemory.
  SlabAllocator(RegionAllocator& regions, std::size_t slot_bytes, std::uint64_t max_slots);

  std::byte* address(std::uint32_t slot) const { return base_ + std::size_t{slot} * slot_bytes_; }
  std::size_t slot_bytes() const { return slot_bytes_; }

  // A slot with undefined contents. Throws OutOfMemory when no further slab can be committed.
  std::uint32_t allocate();
  void release(std::uint32_t slot);

  // Commits what `slots` more allocations need. Throws OutOfMemory.
  void commit_for(std::uint64_t slots);

  std::uint64_t slots_in_use() const { return in_use_; }
  std::size_t committed_bytes() const { return committed_bytes_; }

 private:
  void commit_next();

  // constant
  std::size_t slot_bytes_;
  std::uint64_t max_slots_;
  std::size_t slab_bytes_;
  std::unique_ptr<Region> region_;
  std::byte* base_;
  // guarded by the progress lock
  std::size_t committed_bytes_ = 0;
  std::uint64_t used_slots_ = 0;  // slots ever handed out: the next fresh one
  std::uint64_t in_use_ = 0;
  std::optional<std::uint32_t> free_;  // head of the list of released slots
};

}  // namespace lapse
