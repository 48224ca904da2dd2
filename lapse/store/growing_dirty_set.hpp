// A dirty set in memory of one rank alone, which grows with the rank's slabs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lapse/store/dirty_set.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse {

// Addresses for the bitmap of all units are reserved at once; memory is taken for the units that are in use.
//
// Thread safety: marks() by any thread, for units that were covered before their slots could be seen; cover
// and take by the holder of the progress lock.
class GrowingDirtySet {
 public:
  // Throws OutOfMemory when there are no addresses.
  GrowingDirtySet(RegionAllocator& regions, std::uint64_t max_units);

  // For mark and test: the view never changes.
  const DirtySet& marks() const { return marks_; }

  // Makes units 0 to units - 1 markable. False when there is no memory (or what the region's commit throws).
  bool cover(std::uint64_t units) { return units <= covered_ || grow(units); }
  std::uint64_t covered_units() const { return covered_; }

  // As those of DirtySet, for the units that are covered.
  template <class F>
  void take(F&& f) const {
    marks_.take(0, covered_, std::forward<F>(f));
  }
  bool any() const { return marks_.any(0, covered_); }

  std::size_t committed_bytes() const { return committed_bytes_; }

 private:
  bool grow(std::uint64_t units);

  std::unique_ptr<Region> region_;
  DirtySet marks_;
  std::uint64_t covered_ = 0;
  std::size_t committed_bytes_ = 0;
};

}  // namespace lapse
