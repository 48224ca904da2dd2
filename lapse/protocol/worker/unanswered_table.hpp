// The operations of a worker that are in flight, by key.
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

// One key on which a worker has had more than one unanswered operation at a time, and the route to which they
// are pinned. Its address is stable while count() is not zero.
struct UnansweredKey {
  struct Held {
    OperationState* operation;
    std::uint32_t item;
  };

  std::uint32_t number = 0;  // constant
  // set by the worker before the operation is submitted
  TableId table;
  Key key;
  // operations submitted, written by the worker, and answered, written by the engine; both wrap
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
// The items of its operations are the set: a hash table of their numbers finds them by key, and is cleared as
// a whole when everything has been answered. A key gets an entry of its own, with the pin of its route, only
// when a second operation of the worker names it while the first is unanswered. The engine then counts the
// first operation in the entry as well (OperationState::joins).
//
// The items of an operation that is begun when nothing is unanswered enter the hash table only when a
// question needs it: a worker that waits for each operation never pays for it.
//
// Where one operation names a key more than once, the last of these items stands for all, if all go the same
// way: then they are executed in their order, and nothing of the others is left to wait for but answers.
//
// Thread safety: the worker's; UnansweredKey::pin, held and finish are for the holder of the progress lock.
//
// Guarantees:
// 1. total() is zero if and only if nothing is unanswered; then a direct access needs no lookup.
// 2. A key is counted from before an engine can see its operation until after the answer is delivered.
// 3. Where there is no memory, begin and add throw std::bad_alloc and have changed nothing.
class UnansweredTable {
 public:
  // Tests have smaller ones.
  struct Limits {
    std::uint32_t unanswered = limits::kUnansweredKeys;
    std::uint32_t numbers = limits::kItemNumbers;
  };
  UnansweredTable() : UnansweredTable(Limits()) {}
  explicit UnansweredTable(const Limits& limits) : slots_(kFewestSlots), limits_(limits) {}

  // Unanswered items of all operations. Worker or engine.
  std::uint32_t total() const { return count_.total(); }
  const UnansweredCount& count() const { return count_; }
  UnansweredCount& count() { return count_; }
  // True when the worker has an unanswered operation on the key.
  bool contains(TableId table, Key key) {
    if (total() == 0) return false;
    if (is_late_) enter_items();
    return find(table, key);
  }

  // Whether an operation of so many items, at most limits::kKeysOfCall, may begin. It may when total() is 0.
  bool has_room(std::size_t items) const {
    // Every unanswered item has a number.
    if (next_number_ + items <= std::min(limits_.unanswered, limits_.numbers)) [[likely]]
      return true;
    const std::size_t unanswered = total();
    return unanswered == 0 || (unanswered + items <= limits_.unanswered &&
                               (has_numbers(items) || has_numbers_after_rebuild(items)));
  }

  // How the items of an operation that name one key are kept apart.
  enum class Repeats : std::uint8_t {
    go_one_way,    // whatever other ranks do meanwhile
    have_entries,  // they are pinned to a route like different operations
  };
  // The next items are those of this operation, which has none yet; about `items` follow, and no more than
  // `most`, for which there is room. Where it looks up owners, every key gets an entry, in which it waits.
  void begin(OperationState& operation, TableId table, std::size_t items, std::size_t most,
             Repeats repeats = Repeats::have_entries);
  // Counts the next item of the operation that was begun last. Null where nothing else on the key is
  // unanswered; else the entry of the key, which the item then has too.
  UnansweredKey* add(Key key);
  // As add for several items, if each returns null, whatever its key is; else does nothing.
  bool add_late(std::uint32_t items) {
    if (!is_late_) return false;
    count_.add(items);
    next_number_ += items;
    return true;
  }

  // The keys that follow may go another way than those of the operation before them. Throws std::bad_alloc,
  // having changed nothing.
  void part_ways();

  // How large the hash table is, and how many operations it refers to: what a rebuild costs.
  std::size_t slots() const { return mask_ + 1; }
  std::size_t operations() const { return begun_.size(); }

  // One operation on the key has been answered; nothing of `entry` may be used afterwards.
  static void finish(UnansweredKey& entry) LAPSE_REQUIRES(progress_role) {
    entry.answered.store(entry.answered.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Counts `items` answers in the total, which may follow later and for many keys at once.
  void finish_total(std::uint32_t items) LAPSE_REQUIRES(progress_role) { count_.finish(items); }
  // Some rank has failed: the worker notices it at its next access.
  void close() LAPSE_REQUIRES(progress_role) { count_.close(); }

 private:
  static constexpr std::size_t kChunk = 64;
  static constexpr std::size_t kFewestSlots = 16;
  static constexpr std::size_t kFewestBegun = 64;
  static constexpr std::uint32_t kEntryBit = std::uint32_t{1} << 31;
  static_assert(limits::kItemNumbers <= kEntryBit);
  static_assert(limits::kUnansweredKeys < std::uint32_t{1} << 30);  // UnansweredCount

  // The hash table's element: a part of the key's hash, and the number of an item or, with kEntryBit, of an
  // entry.
  class Slot {
   public:
    Slot() = default;
    Slot(std::uint32_t tag, std::uint32_t number) : bits_(std::uint64_t{tag} << 32U | number) {}
    bool empty() const { return bits_ == 0; }  // A tag is not zero.
    std::uint32_t tag() const { return static_cast<std::uint32_t>(bits_ >> 32U); }
    std::uint32_t number() const { return static_cast<std::uint32_t>(bits_); }
    bool is_entry() const { return (bits_ & kEntryBit) != 0; }

   private:
    std::uint64_t bits_ = 0;  // one number, which is stored and loaded as a whole
  };
  // The items of an operation have the numbers from `base` on, as long as it has this serial number; then
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
  // The slot's item or entry concerns the key; false as well where its operation is no longer known.
  bool concerns(const Slot& slot, TableId table, Key key) const;
  bool is_unanswered(const Slot& slot) const;
  // The key's slot names an earlier operation: as add.
  UnansweredKey* meet(Slot& slot, std::uint32_t number, Key key);
  // The first item of an operation on a key.
  UnansweredKey* take(Slot& slot, std::uint32_t tag, std::uint32_t number, Key key);
  UnansweredKey& fresh_entry(TableId table, Key key);
  // The slot's entry has no unanswered operations.
  void free_entry(const Slot& slot) {
    free_.push_back(&entry_of(slot));
    --entries_;
  }
  // No operation; the hash table is empty.
  void clear();
  void resize_slots(std::size_t items);
  // The items go into the hash table, which is empty.
  LAPSE_EXPORT_INNER void enter_items();
  UnansweredKey* enter(std::uint32_t number, Key key);
  // Drops what has been answered, except the last operation where it is being built; there is room for
  // `items` more afterwards.
  void rebuild(std::size_t items, bool last_is_built);

  bool has_numbers(std::size_t items) const { return next_number_ + items <= limits_.numbers; }
  bool has_numbers_after_rebuild(std::size_t items) const;
  // Whether the operation, of `begun_`, still has unanswered items.
  static bool is_live(const Begun& begun);

  UnansweredCount count_;
  std::vector<Slot> slots_;  // open addressing; the first mask_ + 1 are in use
  std::size_t mask_ = kFewestSlots - 1;
  std::size_t used_ = 0;     // slots that are not empty
  std::size_t entries_ = 0;  // of them, those of entries
  std::uint32_t next_number_ = 0;
  std::uint32_t first_same_way_ = 0;  // items from this number on, of the last operation, go the same way
  bool wants_entries_ = false;        // the operation being built looks up owners
  bool is_late_ = false;              // no item is in the hash table yet: all are of the same operation
  std::vector<Begun> begun_;          // by base
  // With so many, those that have been answered are dropped.
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
