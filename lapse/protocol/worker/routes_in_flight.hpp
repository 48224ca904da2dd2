// The routes that the unanswered operations of a worker have taken, by key.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/worker/begun_operations.hpp"
#include "lapse/protocol/worker/operation_state.hpp"
#include "lapse/protocol/worker/recent_keys.hpp"

namespace lapse {

// A key on which a worker has unanswered operations, and the route to which they are pinned.
struct PinnedKey {
  struct Held {
    OperationState* operation;
    std::uint32_t item;
  };

  std::uint32_t number = 0;  // constant
  TableId table;
  Key key;
  Pin pin LAPSE_GUARDED_BY(progress_role);
  // Operations that wait for the route to change, in program order.
  std::vector<Held> held LAPSE_GUARDED_BY(progress_role);
};

// Keeps all unanswered operations of a worker on a key on one route (entry rule, Router), so that they arrive
// in program order.
//
// It stores where the last operation on each key entered (Pin::entry). While the next operation on the key
// enters at the same place, nothing else is needed: answers change nothing here. Only if it would enter at
// another one, and an earlier one may be in flight, are those in flight counted, and the key is pinned until
// they have been answered.
//
// If an operation begins while nothing else of the worker is in flight, and only this rank can change its
// routes, they are stored only when the next operation begins: a worker that waits for each operation never
// pays for them.
//
// Thread safety: the holder of the progress lock. The operations of a worker begin in program order.
class RoutesInFlight {
 public:
  // The next `items` items of the operation, the current one from now on, are about to be routed. Throws
  // std::bad_alloc; then they must not be routed.
  void begin(OperationState& operation, std::size_t items) LAPSE_REQUIRES(progress_role);
  // The next items of the current operation may take other routes than those before. Throws std::bad_alloc.
  void part_ways() LAPSE_REQUIRES(progress_role);

  // Whether no order is to be kept: the items of the current operation may take any
  // routes, without follow and note.
  bool is_alone() const LAPSE_REQUIRES(progress_role) { return is_alone_; }
  // Notes that an item of the current operation takes the route. False, without effect, if an earlier
  // operation may have entered at another place: the item's route then depends on its pin.
  bool follow(Key key, const Route& route) LAPSE_REQUIRES(progress_role) {
    return follow(line(key), key, route);
  }
  // The same, with the line of memory that is needed, so that the caller can fetch those of many keys before.
  RecentKeys::Line& line(Key key) LAPSE_REQUIRES(progress_role) { return current_keys_->line(key.value()); }
  bool follow(RecentKeys::Line& line, Key key, const Route& route) LAPSE_REQUIRES(progress_role) {
    RecentKeys::Slot& slot = current_keys_->take(line, key.value(), current_.oldest);
    const std::int32_t entry = entry_of(route);
    if (RecentKeys::is_live(slot, current_.oldest) && slot.value != entry) return false;
    slot.operation = current_.number;
    slot.value = entry;
    return true;
  }
  // Notes that an item of the current operation, which is not pinned, takes a route that its pin allows.
  void note(Key key, const Route& route) LAPSE_REQUIRES(progress_role) {
    if (is_alone_) return;
    RecentKeys::Slot& slot = current_keys_->take(key.value(), current_.oldest);
    slot.operation = current_.number;
    slot.value = entry_of(route);
  }
  // Other ranks of the domain may change the route of this key before the current operation names it again:
  // its next items do not follow either, so that they keep their order.
  void do_not_follow(RecentKeys::Line& line, Key key) LAPSE_REQUIRES(progress_role) {
    RecentKeys::Slot& slot = current_keys_->take(line, key.value(), current_.oldest);
    if (slot.value <= RecentKeys::kStays) return;
    slot.operation = current_.number;
    slot.value = kUnknown;
  }
  // Like follow, without noting it, for an item whose pin is not known.
  bool follows(Key key, const Route& route) LAPSE_REQUIRES(progress_role) {
    const RecentKeys::Slot* const slot = current_keys_->find(key.value(), current_.oldest);
    return slot != nullptr && slot->value == entry_of(route);
  }
  // The pin of an item that is not in flight, which is pinned (Item::pinned) only if necessary; else the pin
  // is `alone`, empty before. Null if it depends on which earlier operations are in flight: pin finds out,
  // and the item needs none if it follows.
  Pin* known_pin(const OperationState& operation, OperationState::Item& item, Pin& alone)
      LAPSE_REQUIRES(progress_role);
  // The same, never null: searches all items in flight if necessary. Throws std::bad_alloc.
  Pin& pin(const OperationState& operation, OperationState::Item& item, Pin& alone)
      LAPSE_REQUIRES(progress_role);
  // Pins an item of the current operation that is neither pinned nor in flight, and has an empty pin. Throws
  // std::bad_alloc.
  PinnedKey& keep(const OperationState& operation, OperationState::Item& item) LAPSE_REQUIRES(progress_role);
  // Ends the pinning if none of the worker's operations on the key is in flight or held.
  void release(PinnedKey& pinned) LAPSE_REQUIRES(progress_role);

 private:
  // Values of slots: a domain, kNoEntry, kUnknown, or the number of a pinned key below RecentKeys::kStays.
  static constexpr std::int32_t kNoEntry = -1;
  static constexpr std::int32_t kUnknown = std::numeric_limits<std::int32_t>::max();
  static std::int32_t entry_of(const Route& route) { return route.is_entry ? route.to.value() : kNoEntry; }
  static std::int32_t value_of(const PinnedKey& pinned) {
    return RecentKeys::kStays - static_cast<std::int32_t>(pinned.number);
  }
  PinnedKey& pinned_at(const RecentKeys::Slot& slot) LAPSE_REQUIRES(progress_role) {
    const auto number = static_cast<std::size_t>(RecentKeys::kStays - slot.value);
    return chunks_[number / kChunk][number % kChunk];
  }
  RecentKeys& keys_of(TableId table) LAPSE_REQUIRES(progress_role);
  // Enters the items in flight of an operation that was alone. No slot is live.
  void enter(const OperationState& operation) LAPSE_REQUIRES(progress_role);
  // Returns a key that is not pinned yet.
  PinnedKey& fresh(TableId table, Key key) LAPSE_REQUIRES(progress_role);
  // Calls f(item) for each item in flight on the key.
  template <class F>
  void for_each_in_flight(TableId table, Key key, F&& f) LAPSE_REQUIRES(progress_role);

  static constexpr std::size_t kChunk = 64;

  OperationState::Place current_ LAPSE_GUARDED_BY(progress_role);
  bool is_alone_ LAPSE_GUARDED_BY(progress_role) = false;         // the current operation: it is not in keys_
  BegunOperations begun_ LAPSE_GUARDED_BY(progress_role);         // without some of those answered
  std::size_t searched_ LAPSE_GUARDED_BY(progress_role) = 0;      // size of begun_ without all answered ones
  std::vector<RecentKeys> keys_ LAPSE_GUARDED_BY(progress_role);  // by table
  RecentKeys* current_keys_ LAPSE_GUARDED_BY(progress_role) = nullptr;  // of the current operation's table
  std::vector<std::unique_ptr<PinnedKey[]>> chunks_ LAPSE_GUARDED_BY(progress_role);
  std::vector<PinnedKey*> free_ LAPSE_GUARDED_BY(progress_role);
};

}  // namespace lapse
