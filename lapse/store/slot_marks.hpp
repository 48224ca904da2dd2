// The storage of a store's marks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "lapse/store/dirty_set.hpp"
#include "lapse/store/growing_dirty_set.hpp"
#include "lapse/store/memory/region.hpp"

namespace lapse {

// Marks for slots, stored in memory that the rank's domain shares, or in the rank's own memory, which grows
// with the slots in use.
//
// Thread safety: all() by any thread; the rest by the holder of the progress lock.
class SlotMarks {
 public:
  // For a table without replicas.
  SlotMarks() = default;
  // Uses existing memory.
  explicit SlotMarks(const DirtySet& shared) : shared_(shared) {}
  // For the units 0 to units - 1. Throws OutOfMemory.
  SlotMarks(RegionAllocator& regions, std::uint64_t units)
      : own_(std::make_unique<GrowingDirtySet>(regions, units)) {}

  // For writers, whose units are covered.
  const DirtySet& all() const { return own_ ? own_->marks() : shared_; }
  // Makes the unit markable. Returns false if out of memory, or throws what the region's commit throws.
  bool cover(std::uint64_t unit) { return own_ ? own_->cover(unit + 1) : unit < shared_.units(); }
  bool is_covered(std::uint64_t unit) const { return unit < covered(); }
  bool test(std::uint64_t unit) const { return unit < covered() && all().test(unit); }
  // Like DirtySet's functions.
  template <class F>
  void take(std::uint64_t first, std::uint64_t count, F&& f) const {
    if (const std::uint64_t units = within(first, count)) all().take(first, units, std::forward<F>(f));
  }
  bool any(std::uint64_t first, std::uint64_t count) const {
    const std::uint64_t units = within(first, count);
    return units != 0 && all().any(first, units);
  }

 private:
  std::uint64_t covered() const { return own_ ? own_->covered_units() : shared_.units(); }
  std::uint64_t within(std::uint64_t first, std::uint64_t count) const {
    return first >= covered() ? 0 : std::min(count, covered() - first);
  }

  DirtySet shared_;
  std::unique_ptr<GrowingDirtySet> own_;
};

}  // namespace lapse
