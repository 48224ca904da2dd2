#include "lapse/store/slab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {
constexpr std::size_t kSmallSlab = std::size_t{64} << 10;
constexpr std::size_t kLargeSlab = std::size_t{2} << 20;
constexpr std::uint32_t kEndOfList = std::numeric_limits<std::uint32_t>::max();
// Tables whose values exceed this grow in large slabs: at most one eighth of it is ever committed in vain.
constexpr std::size_t kLargeTable = 8 * kLargeSlab;
}  // namespace

SlabAllocator::SlabAllocator(RegionAllocator& regions, std::size_t slot_bytes, std::uint64_t max_slots)
    : slot_bytes_(slot_bytes), max_slots_(std::min<std::uint64_t>(max_slots, kEndOfList)) {
  if (max_slots_ > std::numeric_limits<std::size_t>::max() / 2 / slot_bytes_) {
    throw OutOfMemory(fmt::format("{} slots of {} bytes exceed the address space", max_slots_, slot_bytes_));
  }
  const std::size_t bytes = max_slots_ * slot_bytes_;
  slab_bytes_ = bytes >= kLargeTable ? kLargeSlab : kSmallSlab;
  region_ = regions.reserve(bytes);
  if (!region_) {
    throw OutOfMemory(
        fmt::format("no address space for {} slots of {} bytes ({} bytes)", max_slots_, slot_bytes_, bytes));
  }
  base_ = region_->base();
}

void SlabAllocator::commit_next() {
  const std::size_t bytes = std::min(slab_bytes_, region_->capacity_bytes() - committed_bytes_);
  if (bytes == 0 || !region_->commit(committed_bytes_, bytes)) {
    throw OutOfMemory(fmt::format(
        "no memory for a further slab of {} bytes: {} slots of {} bytes are in use, {} bytes committed",
        slab_bytes_, in_use_, slot_bytes_, committed_bytes_));
  }
  committed_bytes_ += bytes;
}

void SlabAllocator::commit_for(std::uint64_t slots) {
  const std::uint64_t last = std::min(used_slots_ + slots, max_slots_);
  while (committed_bytes_ < last * slot_bytes_) commit_next();
}

std::uint32_t SlabAllocator::allocate() {
  std::uint32_t slot;
  if (free_) {
    slot = *free_;
    std::uint32_t next;
    std::memcpy(&next, address(slot), sizeof next);
    free_ = next == kEndOfList ? std::nullopt : std::optional(next);
    // Whoever allocates many slots would else wait for the link in each.
    if (free_) __builtin_prefetch(address(*free_), 1);
  } else {
    if (used_slots_ == max_slots_) throw OutOfMemory(fmt::format("all {} slots are in use", max_slots_));
    if ((used_slots_ + 1) * slot_bytes_ > committed_bytes_) commit_next();
    slot = static_cast<std::uint32_t>(used_slots_++);
  }
  ++in_use_;
  return slot;
}

void SlabAllocator::release(std::uint32_t slot) {
  const std::uint32_t next = free_.value_or(kEndOfList);
  std::memcpy(address(slot), &next, sizeof next);
  free_ = slot;
  --in_use_;
}

}  // namespace lapse
