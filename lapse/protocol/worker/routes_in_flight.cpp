#include "lapse/protocol/worker/routes_in_flight.hpp"

#include <algorithm>
#include <bit>

#include "lapse/protocol/table/table_shard.hpp"

namespace lapse {

void RoutesInFlight::begin(OperationState& operation, std::size_t items) {
  const OperationState::Place& place = operation.place;
  const TableId table = operation.table->id();
  if (begun_.empty() || begun_.last().number != place.number) {
    begun_.drop_while([&place](const BegunOperations::Begun& begun) {
      return static_cast<std::int32_t>(begun.number - place.oldest) < 0;
    });
    if (begun_.empty()) {
      // If other ranks serve keys of the domain, they may change the route of a key between two items.
      is_alone_ = !operation.holdable && operation.table->definition().members() == 1;
    } else if (is_alone_) {
      if (const OperationState* const before = begun_.last().unanswered()) enter(*before);
      is_alone_ = false;
    }
    begun_.add(operation, table, place.number);
    if (begun_.all().size() > 2 * (searched_ + kChunk)) {
      // An old operation is in flight. Later ones that have been answered need not be searched.
      begun_.drop_answered();
      searched_ = begun_.all().size();
    }
  }
  current_ = place;
  if (is_alone_) return;
  current_keys_ = &keys_of(table);
  current_keys_->reserve(items, place.oldest);
}

RecentKeys& RoutesInFlight::keys_of(TableId table) {
  if (keys_.size() <= table.index()) keys_.resize(table.index() + 1);
  return keys_[table.index()];
}

void RoutesInFlight::part_ways() {
  if (!is_alone_) return;
  if (const OperationState* const operation = begun_.last().unanswered()) enter(*operation);
  is_alone_ = false;
}

void RoutesInFlight::enter(const OperationState& operation) {
  const std::uint32_t oldest = operation.place.oldest;
  RecentKeys& keys = keys_of(operation.table->id());
  keys.relax();
  keys.reserve(operation.items.size(), oldest);
  for (const OperationState::Item& item : operation.items) {
    if (!item.in_flight()) continue;
    RecentKeys::Slot& slot = keys.take(item.key.value(), oldest);
    slot.operation = operation.place.number;
    slot.value = item.by_entry ? item.sent_to.value() : kNoEntry;
  }
}

template <class F>
void RoutesInFlight::for_each_in_flight(TableId table, Key key, F&& f) {
  for (const BegunOperations::Begun& begun : begun_.all()) {
    OperationState* const operation = begun.unanswered();
    if (operation == nullptr || begun.table != table) continue;
    for (OperationState::Item& item : operation->items)
      if (item.key == key && item.in_flight()) f(item);
  }
}

Pin* RoutesInFlight::known_pin(const OperationState& operation, OperationState::Item& item, Pin& alone) {
  if (item.pinned != nullptr) return &item.pinned->pin;
  if (is_alone_) return &alone;
  RecentKeys::Slot* const slot = current_keys_->find(item.key.value(), current_.oldest);
  if (slot == nullptr) return &alone;
  if (slot->value <= RecentKeys::kStays) {
    item.pinned = &pinned_at(*slot);
    return &item.pinned->pin;
  }
  if (slot->value != kNoEntry) return nullptr;
  const KeyView view = operation.table->view(item.key);
  if (!view.serves || (!view.at_home() && view.handling != Handling::queue)) return nullptr;
  // The route is the same whether an earlier one is in flight or not.
  alone.unanswered = 1;
  return &alone;
}

Pin& RoutesInFlight::pin(const OperationState& operation, OperationState::Item& item, Pin& alone) {
  if (Pin* const known = known_pin(operation, item, alone)) return *known;
  const TableShard& table = *operation.table;
  RecentKeys::Slot* const slot = current_keys_->find(item.key.value(), current_.oldest);
  const KeyView view = table.view(item.key);
  PinnedKey& pinned = fresh(table.id(), item.key);
  for_each_in_flight(table.id(), item.key, [&](OperationState::Item& earlier) LAPSE_REQUIRES(progress_role) {
    ++pinned.pin.unanswered;
    if (earlier.by_entry) pinned.pin.entry = earlier.sent_to;
    earlier.pinned = &pinned;
  });
  if (pinned.pin.unanswered == 0) {
    slot->operation = current_.oldest - 1;
    free_.push_back(&pinned);
    return alone;
  }
  // The cached location may be that of an answer that has arrived since.
  pinned.pin.redirected =
      pinned.pin.entry && view.hint && Router::redirects(view, *pinned.pin.entry, *view.hint);
  slot->value = value_of(pinned);
  item.pinned = &pinned;
  return pinned.pin;
}

PinnedKey& RoutesInFlight::keep(const OperationState& operation, OperationState::Item& item) {
  PinnedKey& pinned = fresh(operation.table->id(), item.key);
  RecentKeys::Slot& slot = current_keys_->take(item.key.value(), current_.oldest);
  slot.operation = current_.number;
  slot.value = value_of(pinned);
  item.pinned = &pinned;
  return pinned;
}

void RoutesInFlight::release(PinnedKey& pinned) {
  if (pinned.pin.unanswered != 0 || !pinned.held.empty()) return;
  RecentKeys& keys = keys_[pinned.table.index()];
  RecentKeys::Slot& slot = keys.take(pinned.key.value(), current_.oldest);
  slot.operation = current_.oldest - 1;
  slot.value = kNoEntry;
  pinned.pin = Pin{};
  free_.push_back(&pinned);
}

PinnedKey& RoutesInFlight::fresh(TableId table, Key key) {
  if (free_.empty()) {
    // Reserves space for all of them, so that releasing one allocates nothing.
    free_.reserve(std::bit_ceil((chunks_.size() + 1) * kChunk));
    chunks_.push_back(std::make_unique<PinnedKey[]>(kChunk));
    for (std::size_t i = kChunk; i > 0; --i) {
      chunks_.back()[i - 1].number = static_cast<std::uint32_t>((chunks_.size() - 1) * kChunk + i - 1);
      free_.push_back(&chunks_.back()[i - 1]);
    }
  }
  PinnedKey& pinned = *free_.back();
  free_.pop_back();
  pinned.table = table;
  pinned.key = key;
  return pinned;
}

}  // namespace lapse
