#include "lapse/protocol/table/wanted_keys.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace lapse {

std::size_t WantedKeys::Table::find(Key key) const {
  std::size_t at = place(key);
  while (entries[at].count != 0 && entries[at].key != key) at = (at + 1) & mask();
  return at;
}

void WantedKeys::Table::remove(std::size_t at) {
  // Moves the following entries up, unless that brings them before the place where they belong.
  for (std::size_t next = (at + 1) & mask(); entries[next].count != 0; next = (next + 1) & mask()) {
    const std::size_t distance = (next - place(entries[next].key)) & mask();
    if (distance < ((next - at) & mask())) continue;
    entries[at] = entries[next];
    at = next;
  }
  entries[at].count = 0;
}

WantedKeys::Entry* WantedKeys::find(Key key) {
  for (Table* const table : {&table_, &old_}) {
    if (table->entries.empty()) continue;
    Entry& entry = table->entries[table->find(key)];
    if (entry.count != 0) return &entry;
  }
  return nullptr;
}

std::uint32_t WantedKeys::count(Key key) const {
  const Entry* const entry = const_cast<WantedKeys*>(this)->find(key);
  return entry == nullptr ? 0 : entry->count;
}

void WantedKeys::begin_resize(std::size_t entries) {
  Table next;
  next.entries.resize(entries);
  // Moves the rest of an older array at once: it is small, or the keys are many more than expected.
  while (!old_.entries.empty()) move_some();
  old_ = std::move(table_);
  table_ = std::move(next);
  passed_ = 0;
}

void WantedKeys::move_some() {
  for (std::size_t step = 0; step < kPassed && !old_.entries.empty(); ++step) {
    Entry& entry = old_.entries[passed_];
    if (entry.count != 0) {
      table_.entries[table_.find(entry.key)] = entry;
      // An entry that moves up takes this place.
      old_.remove(passed_);
      continue;
    }
    if (++passed_ == old_.entries.size()) old_ = Table();
  }
}

void WantedKeys::make_room(std::size_t keys) {
  const std::size_t wanted = size_ + keys;
  if (2 * wanted > table_.entries.size()) begin_resize(std::bit_ceil(std::max(kFewest, 2 * wanted)));
}

void WantedKeys::want(std::span<const Key> keys, std::vector<Key>& on) {
  on.reserve(on.size() + keys.size());
  make_room(keys.size());
  for (const Key key : keys.first(std::min(kAhead, keys.size()))) prefetch(key);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size()) prefetch(keys[i + kAhead]);
    if (!old_.entries.empty()) move_some();
    if (Entry* const entry = find(keys[i])) {
      ++entry->count;
      continue;
    }
    table_.entries[table_.find(keys[i])] = {.key = keys[i], .count = 1};
    ++size_;
    on.push_back(keys[i]);
  }
}

void WantedKeys::unwant(std::span<const Key> keys, std::vector<Key>& off) {
  off.reserve(off.size() + keys.size());
  for (const Key key : keys.first(std::min(kAhead, keys.size()))) prefetch(key);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size()) prefetch(keys[i + kAhead]);
    if (!old_.entries.empty()) move_some();
    Entry* const entry = find(keys[i]);
    if (entry == nullptr || --entry->count > 0) continue;
    entry->count = 1;
    const bool is_new =
        entry >= table_.entries.data() && entry < table_.entries.data() + table_.entries.size();
    Table& table = is_new ? table_ : old_;
    table.remove(static_cast<std::size_t>(entry - table.entries.data()));
    --size_;
    off.push_back(keys[i]);
  }
  // Does not shrink again soon: afterwards, four times as many keys have space.
  if (table_.entries.size() == kFewest || 16 * size_ >= table_.entries.size() || !old_.entries.empty())
    return;
  try {
    begin_resize(std::max(kFewest, std::bit_ceil(8 * size_)));
  } catch (const std::bad_alloc&) {
    // Keeps the present size.
  }
}

}  // namespace lapse
