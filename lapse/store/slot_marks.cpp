#include "lapse/store/slot_marks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lapse/core/error.hpp"
#include "lapse/store/available_memory.hpp"

namespace lapse {

SlotMarks::SlotMarks(RegionAllocator& regions, std::uint64_t units)
    : region_(regions.reserve(DirtySet::bytes(units))) {
  if (!region_) {
    throw OutOfMemory(fmt::format("{}: no address space for the marks of {} slots; {}", regions.whose(),
                                  units, available_memory().to_text()));
  }
  all_ = DirtySet(region_->base(), units);
}

bool SlotMarks::commit(std::uint64_t unit) {
  constexpr std::size_t kStep = std::size_t{64} << 10;
  if (!region_) return unit < all_.units();
  const std::size_t needed = DirtySet::bytes(unit + 1);
  while (bytes_ < needed) {
    const std::size_t bytes = std::min(kStep, region_->capacity_bytes() - bytes_);
    if (bytes == 0 || !region_->commit(bytes_, bytes)) return false;
    bytes_ += bytes;
  }
  return true;
}

}  // namespace lapse
