// The memory of a store's marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lapse/store/dirty_set.hpp"
#include "lapse/store/region.hpp"

namespace lapse {

// Marks for the slots of one rank: in memory that its domain shares, or in memory of its own, of which it takes
// what the slots in use need. Thread safety: the holder of the progress lock; all() by any thread.
class SlotMarks {
 public:
  // A table without copies needs none.
  SlotMarks() = default;
  // In memory that is there already.
  explicit SlotMarks(const DirtySet& shared) : all_(shared) {}
  // For the units 0 to units - 1. Throws OutOfMemory.
  SlotMarks(RegionAllocator& regions, std::uint64_t units);

  // For writers, once the units that they mark have memory.
  const DirtySet& all() const { return all_; }
  // Those that have memory.
  DirtySet committed() const {
    return region_ ? DirtySet(region_->base(), DirtySet::units_in(bytes_, all_.units())) : all_;
  }
  // Memory for the mark of a unit; false where there is none.
  bool commit(std::uint64_t unit);

 private:
  DirtySet all_;
  std::unique_ptr<Region> region_;
  std::size_t bytes_ = 0;  // committed
};

}  // namespace lapse
