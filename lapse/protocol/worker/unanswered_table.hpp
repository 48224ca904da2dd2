// Finds the operations of a worker that are in flight, by key.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/core/progress_role.hpp"
#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/directory/router.hpp"
#include "lapse/protocol/table/unanswered_count.hpp"

namespace lapse {

struct OperationState;

// A key on which a worker has had several unanswered operations at a time, and the route to which they are
// pinned. Its address is stable while count() is not zero.
struct UnansweredKey {
  struct Held {
    OperationState* operation;
    std::uint32_t item;
  };

  std::uint32_t number = 0;  // constant
  // set by the worker before the operation is submitted
  TableId table;
  Key key;
  // numbers of operations submitted (written by the worker) and answered (written by the engine); both wrap
  std::atomic<std::uint32_t> submitted{0};
  std::atomic<std::uint32_t> answered{0};
  // Operations submitted and not yet answered.
  std::uint32_t count() const {
    const std::uint32_t done = answered.load(std::memory_order_acquire);
    return submitted.load(std::memory_order_relaxed) - done;
  }
  // guarded by the progress lock, used while count() is not zero
  Pin pin LAPSE_GUARDED_BY(progress_role);
  // Operations that wait for the route to change, in program order.
  std::vector<Held> held LAPSE_GUARDED_BY(progress_role);
};

// An exact set of the keys on which one worker has unanswered operations.
//
// The set consists of the items of its operations. A hash table of their numbers finds them by key; it is
// cleared as a whole when everything has been answered. A key gets its own entry, with the pin of its route,
// only when a second operation of the worker names it while the first is unanswered. The engine then counts
// the first operation in the entry as well (OperationState::joins).
//
// If an operation begins while nothing is unanswered, its items enter the hash table only when a question
// needs it: a worker that waits for each operation never pays for it.
//
// If an operation names a key twice and all its items take one route, only the last is entered: the items are
// executed in order, so it is answered last.
//
// Thread safety: the worker. UnansweredKey::pin, held and finish: the holder of the progress lock.
//
// Guarantees:
// 1. total() is zero if and only if nothing is unanswered; then a direct access needs no lookup.
// 2. A key is counted from before an engine can see its operation until after the answer is delivered.
// 3. If begin or add throw std::bad_alloc, they have no effect.
class UnansweredTable {
 public:
  // Tests use smaller ones.
  struct Limits {
    std::uint32_t unanswered = limits::kUnansweredKeys;
    std::uint32_t numbers = limits::kItemNumbers;
  };
  UnansweredTable() : UnansweredTable(Limits()) {}
  explicit UnansweredTable(const Limits& limits) : slots_(kFewestSlots), limits_(limits) {}

  // Unanswered items of all operations. Callers: the worker or the engine.
  std::uint32_t total() const { return count_.total(); }
  const UnansweredCount& count() const { return count_; }
  UnansweredCount& count() { return count_; }
  // True if the worker has an unanswered operation on the key.
  bool contains(TableId table, Key key) {
    if (total() == 0) return false;
    if (is_late_) enter_items();
    return find(table, key);
  }

  // Whether an operation of `items` items, at most limits::kKeysOfCall, may begin. True if total() is 0.
  bool has_room(std::size_t items) const {
    // Every unanswered item has a number.
    if (next_number_ + items <= std::min(limits_.unanswered, limits_.numbers)) [[likely]]
      return true;
    const std::size_t unanswered = total();
    return unanswered == 0 || (unanswered + items <= limits_.unanswered &&
                               (has_numbers(items) || has_numbers_after_rebuild(items)));
  }

  // How items of one operation that name the same key are kept apart.
  enum class Repeats : std::uint8_t {
    go_one_way,    // regardless of other ranks
    have_entries,  // pinned to a route like different operations
  };
  // Makes `operation`, which has no items yet, the one that the next items belong to: about `items`, at most
  // `most`, for which there must be space. If it looks up owners, every key gets an entry, in which it waits.
  void begin(OperationState& operation, TableId table, std::size_t items, std::size_t most,
             Repeats repeats = Repeats::have_entries);
  // Counts the next item of the last operation begun. Returns null if nothing else on the key is unanswered,
  // else the key's entry, which the item then shares.
  UnansweredKey* add(Key key);
  // Like add for several items, if each call would return null for any key; else returns false without
  // effect.
  bool add_late(std::uint32_t items) {
    if (!is_late_) return false;
    count_.add(items);
    next_number_ += items;
    return true;
  }

  // Allows the following keys to take another route than the operation's keys before them. Throws
  // std::bad_alloc and then has no effect.
  void part_ways();

  // The cost of a rebuild: the size of the hash table, and the number of operations that it refers to.
  std::size_t slots() const { return mask_ + 1; }
  std::size_t operations() const { return begun_.size(); }

  // Counts an answer to an operation on the key. `entry` must not be used afterwards.
  static void finish(UnansweredKey& entry) LAPSE_REQUIRES(progress_role) {
    entry.answered.store(entry.answered.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Counts `items` answers in the total; may be called later than finish and once for many keys.
  void finish_total(std::uint32_t items) LAPSE_REQUIRES(progress_role) { count_.finish(items); }
  // Some rank has failed: makes the worker notice it at its next access.
  void close() LAPSE_REQUIRES(progress_role) { count_.close(); }
  // The worker begins anew in another seat.
  void open() LAPSE_REQUIRES(progress_role) { count_.open(); }

 private:
  static constexpr std::size_t kChunk = 64;
  static constexpr std::size_t kFewestSlots = 16;
  static constexpr std::size_t kFewestBegun = 64;
  static constexpr std::uint32_t kEntryBit = std::uint32_t{1} << 31;
  static_assert(limits::kItemNumbers <= kEntryBit);
  static_assert(limits::kUnansweredKeys < std::uint32_t{1} << 30);  // UnansweredCount

  // An element of the hash table: a part of the key's hash, and the number of an item or, with kEntryBit, of
  // an entry.
  class Slot {
   public:
    Slot() = default;
    Slot(std::uint32_t tag, std::uint32_t number) : bits_(std::uint64_t{tag} << 32U | number) {}
    bool empty() const { return bits_ == 0; }  // A tag is not zero.
    std::uint32_t tag() const { return static_cast<std::uint32_t>(bits_ >> 32U); }
    std::uint32_t number() const { return static_cast<std::uint32_t>(bits_); }
    bool is_entry() const { return (bits_ & kEntryBit) != 0; }

   private:
    std::uint64_t bits_ = 0;  // a single number, so that it is stored and loaded as a whole
  };
  // The items of an operation have the numbers from `base` on while it has this serial number. Afterwards,
  // they may be gone.
  struct Begun {
    std::uint32_t base;
    std::uint32_t serial;
    OperationState* operation;
    TableId table;
  };
  struct Place {
    std::size_t at;
    std::uint32_t tag;
  };

  Place place_of(TableId table, Key key) const {
    const std::uint64_t hash = mix_bits(key.value() + (std::uint64_t{table.value()} << 48U));
    return {hash & mask_, static_cast<std::uint32_t>(hash >> 32U) | 1U};
  }
  LAPSE_EXPORT_INNER bool find(TableId table, Key key) const;
  const Begun& begun_with(std::uint32_t number) const;
  UnansweredKey& entry_of(const Slot& slot) const {
    const std::uint32_t number = slot.number() & ~kEntryBit;
    return chunks_[number / kChunk][number % kChunk];
  }
  // Whether the slot's item or entry is for the key. False also if its operation has ended.
  bool concerns(const Slot& slot, TableId table, Key key) const;
  bool is_unanswered(const Slot& slot) const;
  // Like add, if the key's slot names an earlier operation.
  UnansweredKey* meet(Slot& slot, std::uint32_t number, Key key);
  // Adds the first item of an operation on a key.
  UnansweredKey* take(Slot& slot, std::uint32_t tag, std::uint32_t number, Key key);
  UnansweredKey& fresh_entry(TableId table, Key key);
  // Requires that the slot's entry has no unanswered operations.
  void free_entry(const Slot& slot) {
    free_.push_back(&entry_of(slot));
    --entries_;
  }
  // Drops all operations and empties the hash table.
  void clear();
  void resize_slots(std::size_t items);
  // Enters the items into the hash table, which must be empty.
  LAPSE_EXPORT_INNER void enter_items();
  UnansweredKey* enter(std::uint32_t number, Key key);
  // Drops what has been answered, except the last operation if it is being built. Afterwards, there is space
  // for `items` more.
  void rebuild(std::size_t items, bool last_is_built);

  bool has_numbers(std::size_t items) const { return next_number_ + items <= limits_.numbers; }
  bool has_numbers_after_rebuild(std::size_t items) const;
  // Whether the operation, one of `begun_`, still has unanswered items.
  static bool is_live(const Begun& begun);

  UnansweredCount count_;
  std::vector<Slot> slots_;  // open addressing; the first mask_ + 1 are in use
  std::size_t mask_ = kFewestSlots - 1;
  std::size_t used_ = 0;     // slots that are not empty
  std::size_t entries_ = 0;  // slots among them that name entries
  std::uint32_t next_number_ = 0;
  std::uint32_t first_same_way_ = 0;  // items from this number on, of the last operation, take one route
  bool wants_entries_ = false;        // the operation being built looks up owners
  bool is_late_ = false;              // no item is in the hash table yet: all are of one operation
  std::vector<Begun> begun_;          // by base
  // At this number of operations, those that have been answered are dropped.
  std::size_t most_begun_ = kFewestBegun;
  std::vector<std::unique_ptr<UnansweredKey[]>> chunks_;
  std::vector<UnansweredKey*> free_;
  const Limits limits_;
};

inline UnansweredKey* UnansweredTable::add(Key key) {
  UnansweredKey* entry = nullptr;
  if (!is_late_) {
    if ((used_ + 1) * 2 > mask_ + 1) rebuild(1, true);
    entry = enter(next_number_, key);
  }
  ++next_number_;
  count_.add();
  return entry;
}

}  // namespace lapse
