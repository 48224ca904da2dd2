// An operation of a worker, from its submission until its last answer.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "lapse/core/limits.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/key_failure.hpp"
#include "lapse/protocol/table/operation_kind.hpp"
#include "lapse/transport/engine/submission_queue.hpp"

namespace lapse {

class TableShard;
class WorkerEndpoint;
struct PinnedKey;

// Filled by the worker before it is submitted, or piece by piece while the worker holds the progress lock.
// The submitted part belongs to the engine until `remaining` is zero. The worker's endpoint pools the
// objects.
struct OperationState : Submission, ValueOperation {
  using Clock = std::chrono::steady_clock;

  enum class ItemState : std::uint8_t {
    waiting,    // not yet submitted, or held
    in_flight,  // sent or queued
    seen,       // in flight, and named by an answer that is being handled
    answered,
  };
  // Made by the worker before the engine has it. From then on, only the holder of the progress lock writes to
  // it: what its route is pinned to, its destination, where its update is kept, and the state.
  // Without the lock, the worker may still read the key, which never changes, and the state.
  class Item {
   public:
    Item(Key its_key, std::uint32_t row, std::uint32_t update)
        : key(its_key), offset(row), payload_offset(update) {}

    ItemState state() const {
      return std::atomic_ref(const_cast<ItemState&>(state_)).load(std::memory_order_acquire);
    }
    // As seen by the engine, the only one that changes it.
    bool in_flight() const LAPSE_REQUIRES(progress_role) { return state_ == ItemState::in_flight; }
    void set_state(ItemState state) LAPSE_REQUIRES(progress_role) {
      std::atomic_ref(state_).store(state, std::memory_order_release);
    }

    Key key;
    // Null unless the route of the worker's operations on the key is pinned (RoutesInFlight).
    PinnedKey* pinned = nullptr;
    std::uint32_t offset;          // of the key's row at the destination, in units of row_unit
    std::uint32_t payload_offset;  // of its row among the updates, in units of payload_unit
    // Where it was sent; set once it is in flight.
    Domain sent_to;
    bool by_entry = false;  // the worker's next operations on the key follow it there (Pin::entry)
    bool is_kept = false;   // its row of updates is in the payload

   private:
    ItemState state_ = ItemState::waiting;
  };
  static_assert(sizeof(Item) == 32);
  // Its number among the worker's operations, and that of the oldest one that was unanswered when it began.
  struct Place {
    std::uint32_t number = 1;
    std::uint32_t oldest = 1;
  };
  // Names an item in messages: by its position in the order of routes, or by its index with this bit.
  static constexpr std::uint32_t kIndexBit = std::uint32_t{1} << 31;
  static_assert(limits::kKeysOfCall < kIndexBit);

  // constant for the endpoint's life
  WorkerEndpoint* worker = nullptr;
  std::uint64_t number = 0;  // identifies this object in messages

  // the worker's
  bool in_hand = false;   // a handle refers to it
  bool orphaned = false;  // the worker has been destroyed: the handle has no effect any more

  // Incremented when the operation has ended and its object is free. A reference to its items that has an
  // earlier serial number must not be followed: the items may be gone.
  std::atomic<std::uint32_t> serial{0};
  TableShard* table = nullptr;
  Place place;                              // not of a localize
  std::vector<Item> items;                  // keys that could not be handled directly
  const std::byte* updates = nullptr;       // push and set: the call's updates; call: its arguments
  std::vector<std::byte> payload;           // the updates that the operation has copied
  std::byte* destination = nullptr;         // pull: the call's values; call: its results; null once detached
  std::size_t row_unit = 1;                 // unit of the items' offsets at the destination, in bytes
  std::size_t payload_unit = 1;             // unit of their offsets among the updates, in bytes
  std::size_t update_bytes = 0;             // of all items
  bool holdable = false;                    // any item may be held: none is in a run
  std::uint8_t side = 0;                    // of the clock at which it began (WorkerLevel)
  bool refused = false;                     // out of memory to submit it: no item is executed
  bool is_remote = false;                   // at least one item was sent to another rank
  std::uint32_t counted_bytes = 0;          // kept_bytes(), as its worker last counted them
  std::unique_ptr<KeyFailure> failure;      // the operation's first one
  std::atomic<std::uint32_t> remaining{0};  // items without answer
  // If the order of routes differs from that of `items` (reordered): the items by their positions in it.
  bool reordered LAPSE_GUARDED_BY(progress_role) = false;
  std::vector<std::uint32_t> order LAPSE_GUARDED_BY(progress_role);
  std::size_t positions() const LAPSE_REQUIRES(progress_role) {
    return reordered ? order.size() : items.size();
  }

  // Returns the item that a message names; null if there is none.
  Item* item_with(std::uint32_t name) LAPSE_REQUIRES(progress_role) {
    std::size_t index = name & ~kIndexBit;
    if (index == name && reordered) index = name < order.size() ? order[name] : items.size();
    return index < items.size() ? &items[index] : nullptr;
  }
  // The update or argument of an item.
  const std::byte* update(const Item& item) const {
    const std::byte* const rows = item.is_kept ? payload.data() : updates;
    return rows == nullptr ? nullptr : rows + item.payload_offset * payload_unit;
  }
  // Copies the update of an item that is not in flight, or of all items: the caller may then change its own.
  void keep_update(Item& item);
  void keep_updates();
  // Destination of an item's value or result; null once detached.
  std::byte* row(const Item& item) const {
    return destination == nullptr ? nullptr : destination + item.offset * row_unit;
  }
  // Bytes allocated for items, their updates and order.
  std::size_t kept_bytes() const LAPSE_REQUIRES(progress_role) {
    return items.capacity() * sizeof(Item) + payload.capacity() + order.capacity() * sizeof(std::uint32_t);
  }
  void free_memory() LAPSE_REQUIRES(progress_role) {
    items = std::vector<Item>();  // `{}` would keep the memory
    payload = decltype(payload)();
    order = decltype(order)();
    reordered = false;
  }
  bool done() const { return remaining.load(std::memory_order_acquire) == 0; }
  void fail(KeyFailure with) {
    if (!failure) failure = std::make_unique<KeyFailure>(std::move(with));
  }
  // This rank was out of memory for a key; the call fails for it and for all keys after it.
  void fail_without_memory(Key key, Rank rank);
};

}  // namespace lapse
