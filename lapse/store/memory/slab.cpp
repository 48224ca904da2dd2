#include "lapse/store/memory/slab.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

namespace {
constexpr std::size_t kSmallSlab = std::size_t{64} << 10;
constexpr std::size_t kLargeSlab = std::size_t{2} << 20;
// No slot has this number.
constexpr std::uint32_t kMaxUnits = std::numeric_limits<std::uint32_t>::max();
// Slabs are large beyond this much memory: at most one eighth is committed in vain.
constexpr std::size_t kLargeTable = 8 * kLargeSlab;
}  // namespace

SlabAllocator::SlabAllocator(RegionAllocator& regions, std::size_t unit_bytes, std::uint64_t max_units)
    : unit_bytes_(unit_bytes),
      max_units_(std::min<std::uint64_t>(max_units, kMaxUnits)),
      owner_label_(regions.whose()) {
  if (max_units_ > std::numeric_limits<std::size_t>::max() / 2 / unit_bytes_) {
    throw OutOfMemory(fmt::format("{}: {} slots of {} bytes exceed the address space", owner_label_,
                                  max_units_, unit_bytes_));
  }
  const std::size_t bytes = max_units_ * unit_bytes_;
  region_ = regions.reserve(bytes);
  if (!region_) {
    throw OutOfMemory(fmt::format("{}: no address space for {} slots of {} bytes ({} bytes); {}",
                                  owner_label_, max_units_, unit_bytes_, bytes,
                                  available_memory().to_text()));
  }
  base_ = reinterpret_cast<std::uintptr_t>(region_->base());
}

SlabAllocator::SlabAllocator(SlabSpace space, std::size_t unit_bytes, std::string owner_label)
    : unit_bytes_(unit_bytes),
      first_unit_(space.first_unit),
      max_units_(space.max_units),
      region_(std::move(space.region)),
      first_offset_((space.first_unit - space.region_unit) * unit_bytes),
      base_(reinterpret_cast<std::uintptr_t>(region_->base()) - space.region_unit * unit_bytes),
      owner_label_(std::move(owner_label)) {}

bool SlabAllocator::try_commit_up_to(std::uint64_t units) {
  const std::size_t wanted = units * unit_bytes_;
  const std::size_t capacity = max_units_ * unit_bytes_;
  for (std::size_t committed = committed_bytes(); committed < wanted; committed = committed_bytes()) {
    const std::size_t needed = wanted - committed;
    const std::size_t slab = needed >= kLargeSlab || committed >= kLargeTable ? kLargeSlab : kSmallSlab;
    const std::size_t bytes = std::min(slab, capacity - committed);
    if (bytes == 0 || !region_->commit(first_offset_ + committed, bytes)) return false;
    committed_bytes_.store(committed + bytes, std::memory_order_relaxed);
  }
  return true;
}

void SlabAllocator::try_commit_for(std::uint64_t units) {
  try {
    if (try_commit_up_to(std::min(used_units_ + units, max_units_))) return;
  } catch (const OutOfMemory&) {
    // Treated like a commit that returned false.
  }
  refused_ = 1;
}

void SlabAllocator::commit_for(std::uint64_t units) {
  if (!try_commit_up_to(std::min(used_units_ + units, max_units_))) throw_exhausted(1);
}

void SlabAllocator::throw_exhausted(std::uint32_t units) const {
  if (std::max(used_units_, in_use_ + promised_units_) + units > max_units_) {
    throw OutOfMemory(fmt::format("{}: all {} slots of {} bytes for values are in use", owner_label_,
                                  max_units_, unit_bytes_));
  }
  throw OutOfMemory(fmt::format(
      "{}: no memory for a further slab of {} bytes: values take {} bytes, {} are committed; {}",
      owner_label_, kLargeSlab, in_use_ * unit_bytes_, committed_bytes(), available_memory().to_text()));
}

FreeSlots& SlabAllocator::find_free_slots(std::uint32_t units) {
  const auto found = std::ranges::lower_bound(free_, units, {}, &FreeOfSize::units);
  if (found != free_.end() && found->units == units) return found->slots;
  return free_.insert(found, {units, FreeSlots(units * unit_bytes_)})->slots;
}

bool SlabAllocator::has_room(std::uint64_t units) {
  if (units > max_units_) return false;
  if (units * unit_bytes_ <= committed_bytes()) return true;
  const bool asks = refused_ % kRefusalsPerTry == 0;
  ++refused_;  // also if the region throws
  if (!asks || !try_commit_up_to(units)) return false;
  refused_ = 0;
  return true;
}

std::optional<std::uint32_t> SlabAllocator::allocate_if_room(std::uint32_t units) {
  FreeSlots& free = free_slots(units);
  // A released slot has its memory; promised slots need theirs in addition.
  const bool may_lack_room = free.empty() || promised_units_ != 0;
  const std::uint64_t used = free.empty() ? used_units_ : in_use_;
  if (may_lack_room && !has_room(used + promised_units_ + units)) return std::nullopt;
  return take(free, units);
}

std::optional<std::uint32_t> SlabAllocator::try_allocate(std::uint32_t units) {
  try {
    return allocate_if_room(units);
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

bool SlabAllocator::promise_if_room(std::uint32_t units) {
  if (!has_room(in_use_ + promised_units_ + units)) return false;
  promised_units_ += units;
  return true;
}

bool SlabAllocator::try_promise(std::uint32_t units) {
  try {
    return promise_if_room(units);
  } catch (const OutOfMemory&) {
    return false;
  }
}

void SlabAllocator::promise(std::uint32_t units) {
  refused_ = 0;
  if (!promise_if_room(units)) throw_exhausted(units);
}

std::uint32_t SlabAllocator::allocate(std::uint32_t units) {
  refused_ = 0;
  const std::optional<std::uint32_t> slot = allocate_if_room(units);
  if (!slot) throw_exhausted(units);
  return *slot;
}

}  // namespace lapse
