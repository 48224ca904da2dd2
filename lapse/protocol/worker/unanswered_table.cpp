#include "lapse/protocol/worker/unanswered_table.hpp"

#include <algorithm>
#include <bit>

#include "lapse/protocol/worker/operation_state.hpp"

namespace lapse {

const UnansweredTable::Begun& UnansweredTable::begun_with(std::uint32_t number) const {
  return *std::prev(std::ranges::upper_bound(begun_, number, {}, &Begun::base));
}

bool UnansweredTable::concerns(const Slot& slot, TableId table, Key key) const {
  if (slot.is_entry()) {
    const UnansweredKey& entry = entry_of(slot);
    return entry.key == key && entry.table == table;
  }
  const Begun& begun = begun_with(slot.number());
  const OperationState& operation = *begun.operation;
  // Only the worker reuses an operation.
  if (operation.serial.load(std::memory_order_relaxed) != begun.serial) return false;
  return operation.items[slot.number() - begun.base].key == key && begun.table == table;
}

bool UnansweredTable::is_unanswered(const Slot& slot) const {
  if (slot.is_entry()) return entry_of(slot).count() != 0;
  const Begun& begun = begun_with(slot.number());
  const OperationState& operation = *begun.operation;
  return operation.serial.load(std::memory_order_relaxed) == begun.serial &&
         operation.items[slot.number() - begun.base].state() != OperationState::ItemState::answered;
}

bool UnansweredTable::find(TableId table, Key key) const {
  auto [at, tag] = place_of(table, key);
  for (;; at = (at + 1) & mask_) {
    const Slot& slot = slots_[at];
    if (slot.empty()) return false;
    if (slot.tag() == tag && concerns(slot, table, key)) return is_unanswered(slot);
  }
}

UnansweredKey& UnansweredTable::fresh_entry(TableId table, Key key) {
  if (free_.empty()) {
    // Reserves space for all entries, so that freeing one allocates nothing.
    free_.reserve(std::bit_ceil((chunks_.size() + 1) * kChunk));
    chunks_.push_back(std::make_unique<UnansweredKey[]>(kChunk));
    for (std::size_t i = kChunk; i > 0; --i) {
      chunks_.back()[i - 1].number = static_cast<std::uint32_t>((chunks_.size() - 1) * kChunk + i - 1);
      free_.push_back(&chunks_.back()[i - 1]);
    }
  }
  UnansweredKey& entry = *free_.back();
  free_.pop_back();
  ++entries_;
  entry.table = table;
  entry.key = key;
  return entry;
}

UnansweredKey* UnansweredTable::take(Slot& slot, std::uint32_t tag, std::uint32_t number, Key key) {
  if (!wants_entries_) {
    slot = Slot(tag, number);
    return nullptr;
  }
  UnansweredKey& entry = fresh_entry(begun_.back().table, key);
  entry.submitted.store(entry.submitted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  slot = Slot(tag, kEntryBit | entry.number);
  return &entry;
}

UnansweredKey* UnansweredTable::meet(Slot& slot, std::uint32_t number, Key key) {
  const bool has_entry = slot.is_entry();
  if (!is_unanswered(slot)) {
    // While the count was zero, the engine has left no pin and no held operations in the entry.
    if (has_entry) free_entry(slot);
    return take(slot, slot.tag(), number, key);
  }
  if (has_entry) {
    UnansweredKey& entry = entry_of(slot);
    entry.submitted.store(entry.submitted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return &entry;
  }
  const Begun& begun = begun_with(slot.number());
  std::vector<OperationState::Join>& joins = begun_.back().operation->joins;
  joins.push_back({nullptr, begun.operation, begun.serial, slot.number() - begun.base});
  try {
    joins.back().entry = &fresh_entry(begun.table, key);
  } catch (...) {
    joins.pop_back();
    throw;
  }
  UnansweredKey& entry = *joins.back().entry;
  entry.submitted.store(entry.submitted.load(std::memory_order_relaxed) + 2, std::memory_order_relaxed);
  slot = Slot(slot.tag(), kEntryBit | entry.number);
  return &entry;
}

UnansweredKey* UnansweredTable::enter(std::uint32_t number, Key key) {
  const TableId table = begun_.back().table;
  auto [at, tag] = place_of(table, key);
  for (;; at = (at + 1) & mask_) {
    Slot& slot = slots_[at];
    if (slot.empty()) {
      UnansweredKey* const entry = take(slot, tag, number, key);
      ++used_;
      return entry;
    }
    if (slot.tag() == tag && concerns(slot, table, key)) {
      if (slot.is_entry() || slot.number() < first_same_way_) return meet(slot, number, key);
      slot = Slot(tag, number);
      return nullptr;
    }
  }
}

void UnansweredTable::enter_items() {
  resize_slots(total());
  is_late_ = false;
  const OperationState& operation = *begun_.back().operation;
  for (std::uint32_t item = 0; item < next_number_; ++item) {
    // The last item of a key is answered after the others have been executed.
    if (operation.items[item].state() != OperationState::ItemState::answered)
      enter(item, operation.items[item].key);
  }
}

bool UnansweredTable::is_live(const Begun& begun) {
  return begun.operation->serial.load(std::memory_order_relaxed) == begun.serial && !begun.operation->done();
}

bool UnansweredTable::has_numbers_after_rebuild(std::size_t items) const {
  std::size_t numbers = items;
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    const std::uint32_t end = i + 1 == begun_.size() ? next_number_ : begun_[i + 1].base;
    if (is_live(begun_[i])) numbers += end - begun_[i].base;
  }
  return numbers <= limits_.numbers;
}

void UnansweredTable::begin(OperationState& operation, TableId table, std::size_t items, std::size_t most,
                            Repeats repeats) {
  const bool one_way = repeats == Repeats::go_one_way && !operation.holdable;
  if (total() == 0) {
    clear();
    is_late_ = one_way;
    if (!is_late_) resize_slots(items);
  } else {
    // All items are those of the operation before, which decides what they need.
    if (is_late_) enter_items();
    // An operation without items leaves no trace.
    if (begun_.back().base == next_number_) begun_.pop_back();
    const bool is_full = (used_ + items) * 2 > mask_ + 1 || !has_numbers(most);
    if (is_full || begun_.size() >= most_begun_) rebuild(items, false);
  }
  wants_entries_ = operation.holdable;
  begun_.push_back({next_number_, operation.serial.load(std::memory_order_relaxed), &operation, table});
  first_same_way_ = one_way ? next_number_ : kEntryBit;
}

void UnansweredTable::part_ways() {
  if (is_late_) enter_items();
  if (first_same_way_ != kEntryBit) first_same_way_ = next_number_;
}

void UnansweredTable::clear() {
  if (entries_ != 0) {
    for (std::size_t at = 0; at <= mask_; ++at)
      if (slots_[at].is_entry()) free_entry(slots_[at]);
  }
  if (used_ != 0) std::fill_n(slots_.begin(), mask_ + 1, Slot());
  used_ = 0;
  next_number_ = 0;
  begun_.clear();
}

void UnansweredTable::resize_slots(std::size_t items) {
  const std::size_t slots = std::bit_ceil(std::max(kFewestSlots, 2 * items + 2));
  if (slots > slots_.size()) slots_.resize(slots);
  mask_ = slots - 1;
}

void UnansweredTable::rebuild(std::size_t items, bool last_is_built) {
  // Renumbers the items of the operations that still have unanswered ones. The engine may answer them
  // meanwhile: operations that have got numbers keep them.
  std::vector<Begun> live;
  std::vector<std::uint32_t> new_base(begun_.size());
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < begun_.size(); ++i) {
    const Begun& begun = begun_[i];
    const bool is_last = i + 1 == begun_.size();
    if (!(is_last && last_is_built) && !is_live(begun)) continue;
    new_base[i] = next;
    live.push_back({next, begun.serial, begun.operation, begun.table});
    next += (is_last ? next_number_ : begun_[i + 1].base) - begun.base;
  }
  struct Live {
    TableId table;
    Key key;
    std::uint32_t number;
  };
  std::vector<Live> kept;
  kept.reserve(used_);
  std::vector<Slot> unused;  // of entries
  unused.reserve(entries_);
  for (std::size_t at = 0; at <= mask_; ++at) {
    const Slot& slot = slots_[at];
    if (slot.empty()) continue;
    const bool has_entry = slot.is_entry();
    if (!is_unanswered(slot)) {
      if (has_entry) unused.push_back(slot);
    } else if (has_entry) {
      kept.push_back({entry_of(slot).table, entry_of(slot).key, slot.number()});
    } else {
      const Begun& begun = begun_with(slot.number());
      const std::uint32_t item = slot.number() - begun.base;
      kept.push_back({begun.table, begun.operation->items[item].key,
                      new_base[static_cast<std::size_t>(&begun - begun_.data())] + item});
    }
  }
  const std::size_t slots = std::bit_ceil(std::max(kFewestSlots, 3 * (kept.size() + items) + 2));
  // Nothing is allocated from here on. The slots beyond those in use are empty.
  const std::size_t in_use = mask_ + 1;
  if (slots > slots_.size()) slots_.resize(slots);
  std::fill_n(slots_.begin(), in_use, Slot());
  for (const Slot& slot : unused) free_entry(slot);
  mask_ = slots - 1;
  used_ = kept.size();
  if (first_same_way_ != kEntryBit && last_is_built)
    first_same_way_ = live.back().base + (first_same_way_ - begun_.back().base);
  begun_ = std::move(live);
  most_begun_ = std::max(kFewestBegun, 2 * begun_.size());
  next_number_ = next;
  for (const Live& live_key : kept) {
    auto [at, tag] = place_of(live_key.table, live_key.key);
    while (!slots_[at].empty()) at = (at + 1) & mask_;
    slots_[at] = Slot(tag, live_key.number);
  }
}

}  // namespace lapse
