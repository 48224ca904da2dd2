// A dirty set in the memory of a single rank, which grows with the rank's slabs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lapse/store/dirty_set.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse {

// Reserves addresses for the whole bitmap at once; commits memory only for the units in use.
//
// Thread safety: marks() by any thread, for units that were covered before their slots became visible; cover
// and take by the holder of the progress lock.
class GrowingDirtySet {
 public:
  // Throws OutOfMemory if the addresses cannot be reserved.
  GrowingDirtySet(RegionAllocator& regions, std::uint64_t max_units);

  // The view for mark and test; it never changes.
  const DirtySet& marks() const { return marks_; }

  // Makes units 0 to units - 1 markable. Returns false (or throws what the region's commit throws) if out of
  // memory.
  bool cover(std::uint64_t units) { return units <= covered_ || grow(units); }
  std::uint64_t covered_units() const { return covered_; }

  // Like DirtySet's functions, for the covered units.
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
