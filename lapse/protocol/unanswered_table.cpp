#include "lapse/protocol/unanswered_table.hpp"

#include "lapse/core/random.hpp"

namespace lapse {

namespace {
constexpr std::size_t kInitialPositions = 1024;

void count_one_more(UnansweredKey& entry) {
  entry.submitted.store(entry.submitted.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
}  // namespace

UnansweredTable::UnansweredTable() : positions_(kInitialPositions, nullptr) {}

std::size_t UnansweredTable::start_of(TableId table, Key key) const {
  return mix_bits(key.value() + (std::uint64_t{table.value()} << 48)) & (positions_.size() - 1);
}

UnansweredKey* UnansweredTable::find(TableId table, Key key) const {
  for (std::size_t at = start_of(table, key);; at = (at + 1) & (positions_.size() - 1)) {
    UnansweredKey* entry = positions_[at];
    if (entry == nullptr) return nullptr;
    if (entry->key == key && entry->table == table) return entry;
  }
}

UnansweredKey& UnansweredTable::fresh_entry() {
  if (free_.empty()) {
    chunks_.push_back(std::make_unique<UnansweredKey[]>(kChunk));
    for (std::size_t i = kChunk; i > 0; --i) free_.push_back(&chunks_.back()[i - 1]);
  }
  UnansweredKey* entry = free_.back();
  free_.pop_back();
  return *entry;
}

UnansweredKey& UnansweredTable::add(TableId table, Key key) {
  if (total() == 0 && !used_.empty()) {
    // Everything has been answered: clear the occupied positions only.
    for (const std::size_t position : used_) {
      free_.push_back(positions_[position]);
      positions_[position] = nullptr;
    }
    used_.clear();
  }
  count_.add();
  if ((used_.size() + 1) * 2 > positions_.size()) rebuild();
  std::size_t at = start_of(table, key);
  while (positions_[at] != nullptr) {
    if (positions_[at]->key == key && positions_[at]->table == table) {
      // While its count was zero, the engine has left the entry without pin and held operations.
      count_one_more(*positions_[at]);
      return *positions_[at];
    }
    at = (at + 1) & (positions_.size() - 1);
  }
  UnansweredKey& entry = fresh_entry();
  entry.table = table;
  entry.key = key;
  count_one_more(entry);
  positions_[at] = &entry;
  used_.push_back(at);
  return entry;
}

void UnansweredTable::rebuild() {
  std::vector<UnansweredKey*> live;
  for (const std::size_t position : used_) {
    UnansweredKey* entry = positions_[position];
    if (entry->count() != 0) {
      live.push_back(entry);
    } else {
      free_.push_back(entry);
    }
  }
  std::size_t size = positions_.size();
  while (live.size() * 4 >= size) size *= 2;
  positions_.assign(size, nullptr);
  used_.clear();
  for (UnansweredKey* entry : live) {
    std::size_t at = start_of(entry->table, entry->key);
    while (positions_[at] != nullptr) at = (at + 1) & (positions_.size() - 1);
    positions_[at] = entry;
    used_.push_back(at);
  }
}

}  // namespace lapse
