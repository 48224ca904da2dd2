#include "lapse/protocol/table/table_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>

#include "lapse/core/error.hpp"

namespace lapse {

namespace {

constexpr std::size_t kUnitBytes = ValueLayout::kSlotAlignment;

std::size_t padded(std::size_t bytes) {
  return (bytes + kUnitBytes - 1) / kUnitBytes * kUnitBytes;
}

}  // namespace

TableCopies::TableCopies(Store& store, const UpdateKernel& rule)
    : store_(store),
      keys_(store),
      merger_(rule, store.sizes().layout()),
      needs_bases_(store.sizes().layout().copies == Copies::differences) {
  if (!needs_bases_) return;
  const ValueSizes& sizes = store.sizes();
  const bool uniform = sizes.uniform();
  bases_.emplace(regions_, uniform ? padded(merger_.base_bytes(sizes.layout().length)) : kUnitBytes,
                 store.max_units());
}

std::uint32_t TableCopies::replica_number(Key key) {
  const SlotWord word = keys_.word(key);
  switch (low_half(word.role())) {
    case LowHalf::record:
      return word.low();
    case LowHalf::slot:
      if (word.is_copy()) return SlotHead::of(store_.address(word.slot())).record;
      break;
    case LowHalf::hint:
    case LowHalf::arrival:
      break;
  }
  throw ProtocolError(fmt::format("key {} is {} and has no replica", key.value(), role_name(word.role())));
}

std::optional<std::uint32_t> TableCopies::main_number(Key key, std::byte* content) {
  if (!has_members(content)) return std::nullopt;
  const std::uint32_t record = SlotHead::of(content).record & ~kMainBit;
  if ((record & kOnlyBit) == 0) return record;
  const std::uint32_t number = mains_.open(key);
  mains_.at(number).add({.domain = Domain(static_cast<std::int32_t>(record & ~kOnlyBit))});
  set_main(content, number);
  return number;
}

std::optional<std::uint32_t> TableCopies::main_in(Slot slot) {
  const std::byte* const content = store_.address(slot);
  if (!has_members(content) || has_only_member(content)) return std::nullopt;
  const std::uint32_t number = SlotHead::of(content).record & ~kMainBit;
  if (number >= mains_.records()) return std::nullopt;
  const SlotWord word = keys_.word(mains_.at(number).key());
  return word.is_owner() && word.slot() == slot ? std::optional(number) : std::nullopt;
}

std::optional<std::uint32_t> TableCopies::replica_in(Slot slot) {
  const std::uint32_t number = SlotHead::of(store_.address(slot)).record;
  const bool is_one =
      number < replicas_.records() && !slot.is_private && replicas_.at(number).slot == slot.number;
  return is_one ? std::optional(number) : std::nullopt;
}

std::uint32_t TableCopies::base_units(Key key) const {
  if (store_.sizes().uniform()) return 1;
  return static_cast<std::uint32_t>(padded(merger_.base_bytes(store_.sizes().length(key))) / kUnitBytes);
}

std::optional<std::uint32_t> TableCopies::try_open(Replica replica) {
  const bool has_slot = replica.slot != Replica::kNone;
  if (!(has_slot ? try_take_base(replica) : try_prepare(replica))) return std::nullopt;
  try {
    return replicas_.open(replica);
  } catch (const std::bad_alloc&) {
    release_room(replica, !has_slot);
    return std::nullopt;
  }
}

void TableCopies::refuse(Key key) {
  try {
    refused_.insert(key.value());
  } catch (const std::bad_alloc&) {
    // Then the key is announced again when it is wanted anew, which is correct, too.
  }
}

bool TableCopies::try_prepare(Replica& replica) {
  std::optional<std::uint32_t> slot;
  if (!keys_.try_prepare(replica.key, slot)) return false;
  if (slot) {
    replica.slot = *slot;
    if (try_take_base(replica)) return true;
    keys_.release(replica.key, {*slot, false});
    return false;
  }
  if (!needs_bases_ || bases_->try_promise()) return true;
  keys_.cancel();
  return false;
}

void TableCopies::take_room(Replica& replica) {
  if (replica.slot != Replica::kNone) return;
  replica.slot = keys_.take_slot();
  if (needs_bases_) replica.base = bases_->take_promised();
}

void TableCopies::release_room(Replica& replica, bool with_slot) {
  if (replica.slot == Replica::kNone) {
    keys_.cancel();
    if (needs_bases_) bases_->withdraw_promise();
    return;
  }
  if (with_slot) keys_.release(replica.key, {replica.slot, false});
  if (needs_bases_) bases_->release(replica.base, base_units(replica.key));
  replica.slot = Replica::kNone;
}

bool TableCopies::try_take_base(Replica& replica) {
  if (!needs_bases_) return true;
  const auto base = bases_->try_allocate(base_units(replica.key));
  replica.base = base.value_or(Replica::kNone);
  return base.has_value();
}

bool TableCopies::any_marked() const {
  return std::ranges::any_of(marked_, [this](std::uint32_t number) LAPSE_REQUIRES(progress_role) {
    return replicas_.at(number).marked;
  });
}

std::size_t TableCopies::memory_bytes() const {
  return replicas_.memory_bytes() + mains_.memory_bytes() + base_bytes();
}

}  // namespace lapse
