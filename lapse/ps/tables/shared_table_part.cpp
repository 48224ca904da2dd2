#include "lapse/ps/tables/shared_table_part.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "lapse/core/process/pages.hpp"

namespace lapse {

SharedTablePart::SharedTablePart(std::byte* base, SharedTableLayout layout, std::size_t position,
                                 std::uint64_t home_keys, std::function<std::size_t()> free_bytes,
                                 std::function<void()> notify)
    : base_(base),
      layout_(std::move(layout)),
      position_(position),
      home_keys_(home_keys),
      free_bytes_(std::move(free_bytes)),
      notify_(std::move(notify)) {}

bool SharedTablePart::commit(Domain self) {
  MappedRegion region(base_, layout_.total_bytes(), free_bytes_);
  // Equal parts, so that members on different memory nodes carry the same load.
  const std::size_t members = layout_.parts.size();
  const auto share = [&](std::size_t offset, std::size_t bytes) {
    const std::size_t pages = bytes / SharedTableLayout::kPageBytes;
    const std::size_t first = pages * position_ / members;
    const std::size_t last = pages * (position_ + 1) / members;
    return std::pair(offset + first * SharedTableLayout::kPageBytes,
                     (last - first) * SharedTableLayout::kPageBytes);
  };
  const auto words = share(0, layout_.owners_offset);
  const auto owners = share(layout_.owners_offset, layout_.dirty_offset - layout_.owners_offset);
  const auto dirty = share(layout_.dirty_offset, layout_.slots_offset - layout_.dirty_offset);
  for (const auto& [offset, bytes] : {words, owners, dirty}) {
    if (!region.commit(offset, bytes)) return false;
  }
  const std::span<OwnershipTable::Entry> entries = this->owners();
  constexpr std::size_t kEntryBytes = sizeof(OwnershipTable::Entry);
  const std::size_t first = (owners.first - layout_.owners_offset) / kEntryBytes;
  const std::size_t last = std::min(entries.size(), first + owners.second / kEntryBytes);
  for (std::size_t i = first; i < last; ++i) entries[i] = OwnershipTable::at_home(self);
  return true;
}

void SharedTablePart::give_back() const {
  release_pages(base_, layout_.total_bytes());
}

KeyWords SharedTablePart::words(std::uint64_t keys) const {
  return KeyWords::dense(std::make_unique<MappedRegion>(base_, layout_.word_bytes, free_bytes_), keys);
}

std::span<OwnershipTable::Entry> SharedTablePart::owners() const {
  return {reinterpret_cast<OwnershipTable::Entry*>(base_ + layout_.owners_offset), home_keys_};
}

DirtySet SharedTablePart::dirty_set() const {
  return {base_ + layout_.dirty_offset, layout_.dirty_units};
}

SlabSpace SharedTablePart::slots() const {
  return {std::make_unique<MappedRegion>(base_ + layout_.slots_offset, layout_.slots_bytes, free_bytes_), 0,
          part().first_unit, part().units};
}

Store::Overflow SharedTablePart::overflow(RegionAllocator& private_regions, std::string owner_label) const {
  auto* const notified = reinterpret_cast<SharedTableLayout::Notified*>(base_ + layout_.notified_offset());
  return {.regions = private_regions,
          .first_unit = part().first_private_unit,
          .max_units = part().private_units,
          .notice =
              [notified, notify = notify_] {
                if (notified->exchange(1, std::memory_order_relaxed) == 0) notify();
              },
          .owner_label = std::move(owner_label)};
}

}  // namespace lapse
