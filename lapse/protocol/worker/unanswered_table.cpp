#include "lapse/protocol/worker/unanswered_table.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace lapse {

namespace {

using Begun = BegunOperations::Begun;

constexpr unsigned kKeyBits = 48;

// Keys of different tables may share a slot if they are large: a question then searches all items.
std::uint64_t slot_key(TableId table, Key key) {
  return key.value() + (std::uint64_t{table.value()} << kKeyBits);
}

bool names(const OperationState::Item& item, Key key) {
  return item.key == key && item.state() != OperationState::ItemState::answered;
}

// The index of an item of the key that is unanswered.
std::optional<std::size_t> find_in(const Begun& begun, TableId table, Key key) {
  const OperationState* const operation = begun.operation();
  if (operation == nullptr || begun.table != table) return std::nullopt;
  const auto found = std::ranges::find_if(
      operation->items, [key](const OperationState::Item& item) { return names(item, key); });
  if (found == operation->items.end()) return std::nullopt;
  return static_cast<std::size_t>(found - operation->items.begin());
}

}  // namespace

void UnansweredTable::begin(OperationState& operation, TableId table) {
  begun_.drop_while([](const Begun& begun) { return begun.answered(); });
  constexpr std::uint32_t kBetweenShrinks = 64;
  if (begun_.empty() && next_ % kBetweenShrinks == 0) keys_.relax();
  begun_.add(operation, table, next_);
  operation.place = {next_, begun_.oldest().number};
  if (next_ - entering_ >= limits_.unasked) {
    // The worker does not ask: numbers that wrap must not make old ones look new.
    keys_ = RecentKeys();
    entering_ = begun_.oldest().number;
    entered_ = 0;
  }
  ++next_;
}

void UnansweredTable::enter_items() {
  const std::uint32_t oldest = begun_.oldest().number;
  for (const Begun& begun : begun_.all()) {
    if (static_cast<std::int32_t>(begun.number - entering_) < 0) continue;
    if (begun.number != entering_) entered_ = 0;
    entering_ = begun.number;
    const OperationState* const operation = begun.operation();
    if (operation == nullptr) continue;
    const std::vector<OperationState::Item>& items = operation->items;
    keys_.reserve(items.size() - entered_, oldest);
    for (; entered_ < items.size(); ++entered_) {
      const Key key = items[entered_].key;
      key_bits_ |= key.value();
      RecentKeys::Slot& slot = keys_.take(slot_key(begun.table, key), oldest);
      slot.operation = begun.number;
      slot.value = static_cast<std::int32_t>(entered_);
    }
  }
}

bool UnansweredTable::find(TableId table, Key key) {
  // The last operation may be under construction.
  begun_.drop_while(
      [last = begun_.last().number](const Begun& begun) { return begun.number != last && begun.answered(); });
  enter_items();
  const std::uint32_t oldest = begun_.oldest().number;
  RecentKeys::Slot* const slot = keys_.find(slot_key(table, key), oldest);
  if (slot == nullptr || slot->value < 0) return false;
  const auto operations = begun_.all().first(slot->operation - oldest + std::size_t{1});
  const Begun& last = operations.back();
  if (last.operation() != nullptr && last.table == table &&
      names(last.object->items[static_cast<std::size_t>(slot->value)], key))
    return true;
  // The last operation that names the key may be answered before an earlier one. The next question finds what
  // this one has found.
  const bool shared = key_bits_ >> kKeyBits != 0;
  for (std::size_t i = operations.size(); i-- > 0;) {
    const Begun& begun = operations[i];
    const std::optional<std::size_t> item = find_in(begun, table, key);
    if (!item) continue;
    if (!shared) *slot = {slot->key, begun.number, static_cast<std::int32_t>(*item)};
    return true;
  }
  if (!shared) slot->operation = oldest - 1;
  return false;
}

}  // namespace lapse
