#include "lapse/store/growing_dirty_set.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"
#include "lapse/core/process/pages.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

GrowingDirtySet::GrowingDirtySet(RegionAllocator& regions, std::uint64_t max_units)
    : region_(regions.reserve(DirtySet::bytes(max_units))) {
  if (!region_) {
    throw OutOfMemory(fmt::format("{}: no address space for the marks of {} slots that were written to; {}",
                                  regions.whose(), max_units, available_memory().to_text()));
  }
  marks_ = DirtySet(region_->base(), max_units);
}

bool GrowingDirtySet::grow(std::uint64_t units) {
  if (units > marks_.units()) return false;
  const std::size_t page = page_bytes();
  const std::size_t whole_pages = (DirtySet::bytes(units) + page - 1) / page * page;
  const std::size_t needed = std::min(whole_pages, region_->capacity_bytes());
  if (!region_->commit(committed_bytes_, needed - committed_bytes_)) return false;
  committed_bytes_ = needed;
  covered_ = std::min(DirtySet::units_of(needed), marks_.units());
  return true;
}

}  // namespace lapse
