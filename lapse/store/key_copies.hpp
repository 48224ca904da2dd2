// Changes the roles of keys with replicas on several domains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/store.hpp"
#include "lapse/store/words/slot_word.hpp"

namespace lapse {

// Complements Store's own changes of roles, for tables that may have replicas. The caller decides what a
// replica shows and how it is merged.
//
// Thread safety: the holder of the serving rank's progress lock.
class KeyCopies {
 public:
  explicit KeyCopies(Store& store) : store_(store) {}

  SlotWord word(Key key) const { return store_.word(key); }
  std::byte* content(Key key) const { return store_.address(store_.word(key).slot()); }

  // --- keys whose value is invisible to other threads

  // Reserves a slot word, and space for a replica in memory that the domain shares; false if there is none.
  // If all values have one length, take_slot chooses the slot later; otherwise `slot` is set to it.
  bool try_prepare(Key key, std::optional<std::uint32_t>& slot);
  // The replica's slot, if all values have one length. It shows version 0.
  std::uint32_t take_slot();
  // Undoes try_prepare, if it did not choose the slot.
  void cancel() { store_.slots_.withdraw_promise(); }
  // Frees a slot that is no longer used.
  void release(Key key, Slot slot) { store_.release_slot(key, slot); }
  // absent -> awaiting, after try_prepare; the slot word stores `record`.
  void announce(Key key, std::uint32_t record) { publish(key, RoleEvent::announce, Role::awaiting, record); }
  // awaiting or arriving -> replica, stored in `slot`.
  void show(Key key, Slot slot, RoleEvent event = RoleEvent::copy);
  // awaiting -> absent; awaiting -> closing; closing -> absent.
  void refuse(Key key) { publish(key, RoleEvent::refuse, Role::absent, 0); }
  void drop(Key key, std::uint32_t record) { publish(key, RoleEvent::drop, Role::closing, record); }
  void acknowledge(Key key, Domain owner) {
    publish(key, RoleEvent::acknowledge, Role::absent, static_cast<std::uint32_t>(owner.value()) + 1);
  }

  // --- keys whose value other threads may use: each change is one step under the latch

  // replica -> upgrading.
  void upgrade(Key key) {
    change(key, RoleEvent::localize,
           [](SlotWord word, std::byte*) { return std::optional(word.upgrading()); });
  }
  // replica -> closing: f(content) has exclusive access to the replica; then its slot is released.
  template <class F>
  void drop(Key key, std::uint32_t record, F&& f) {
    Slot slot;
    change(key, RoleEvent::drop, [&](SlotWord word, std::byte* content) {
      slot = word.slot();
      f(content);
      return std::optional(word.with_role(Role::closing, record));
    });
    take_mark(slot);
    store_.release_slot(key, slot);
  }
  // upgrading -> arriving: f(content) makes the replica the main copy.
  template <class F>
  void merge(Key key, std::uint32_t arrival, F&& f) {
    change(key, RoleEvent::merge, [&](SlotWord word, std::byte* content) {
      f(content);
      return std::optional(word.with_role(Role::arriving, arrival));
    });
  }
  // owner -> absent; owner -> replica. f(content) has exclusive access to the value and may return false.
  enum class Result : std::uint8_t {
    done,
    refused,  // f returned false: no effect
    leased,   // a worker has leased the key: no effect
  };
  template <class F>
  Result pass_on(Key key, Domain next, F&& f) {
    Slot slot;
    const Result result = leave(key, RoleEvent::instruct, f, [&](SlotWord word) {
      slot = word.slot();
      return word.absent(next);
    });
    if (result != Result::done) return result;
    take_mark(slot);
    store_.release_slot(key, slot);
    return result;
  }
  template <class F>
  Result keep_copy(Key key, F&& f) {
    return leave(key, RoleEvent::keep_copy, f, [](SlotWord word) { return word.replica(word.slot()); });
  }
  // Like pass_on and keep_copy, for an owner whose lease has ended and is being drained.
  void pass_on_leased(Key key, Domain next) {
    const Slot slot = word(key).slot();
    store_leased(key, [&](SlotWord word) { return word.absent(next); });
    take_mark(slot);
    store_.release_slot(key, slot);
    store_.count_here(key, false);
  }
  void keep_copy_leased(Key key) {
    store_leased(key, [&](SlotWord word) { return word.replica(word.slot()); });
    store_.count_here(key, false);
  }

  // f(content) changes the value, of an unleased main copy or of a replica, in one step. Returns false if the
  // key is leased. Exceptions of f propagate.
  template <class F>
  bool write(Key key, F&& f) {
    return access(key, true, f);
  }
  // Like write, if f changes nothing that readers see.
  template <class F>
  bool inspect(Key key, F&& f) {
    return access(key, false, f);
  }
  // Other domains begin to hold replicas of the main copy here; calls f(content) in the same step. `content`:
  // of a key that is being drained, otherwise null. Returns false if the key is leased.
  template <class F>
  bool replicate(Key key, std::byte* content, F&& f) {
    Store::Word& word = *store_.words_.find(key);
    if (content != nullptr) {
      f(content);
      if (SlotWord(word.load(std::memory_order_relaxed)).is_owner())
        store_leased(key, [](SlotWord now) { return now.with_replicated(true); });
      return true;
    }
    const SlotWord latched(store_.latch_open(word, SlotBits::kOpenOwner));
    if (!latched.latched()) return false;
    f(store_.address_of(latched));
    word.store(latched.with_replicated(true).bits() & ~SlotBits::kLatchBit, std::memory_order_release);
    return true;
  }
  // No domain holds replicas any more. The key may be leased.
  void unreplicate(Key key);

  // --- marks

  // Whether the slot can be marked; commits memory for the mark if available. Replicas, and main copies with
  // replicas, must be markable.
  bool make_markable(Slot slot);
  bool is_marked(Slot slot) const { return marks_of(slot).test(unit_of(slot)); }
  // Clears the mark; returns whether there was one.
  bool take_mark(Slot slot) {
    bool marked = false;
    marks_of(slot).take(unit_of(slot), 1, [&](std::uint64_t) { marked = true; });
    return marked;
  }
  // Like take_mark, for a main copy's slot; an arriving key has no mark.
  void clear_mark(Key key) {
    if (const SlotWord now = word(key); now.is_owner()) take_mark(now.slot());
  }
  // For each marked slot of this rank, clears the mark and calls f(slot).
  template <class F>
  void take_marks(F&& f) {
    for_marks([&](const SlotMarks& marks, std::uint64_t first, std::uint64_t units, Slot slot) {
      marks.take(first, units, [&](std::uint64_t unit) {
        slot.number += static_cast<std::uint32_t>(unit);
        f(slot);
        slot.number -= static_cast<std::uint32_t>(unit);
      });
    });
  }
  bool any_marked() const {
    bool any = false;
    for_marks([&](const SlotMarks& marks, std::uint64_t first, std::uint64_t units, Slot) {
      any = any || marks.any(first, units);
    });
    return any;
  }
  // Whether the slot may hold a replica: every rank of the domain can address it.
  static bool is_shared(Slot slot) { return !slot.is_private; }

 private:
  struct Latched {
    Store::Word& word;
    SlotBits bits;
    bool writes;
    ~Latched() {
      if (!bits.latched()) return;
      word.store(writes ? bits.after_write().bits() : bits.bits() & ~SlotBits::kLatchBit,
                 std::memory_order_release);
    }
  };

  SlotMarks& marks_of(Slot slot) const { return slot.is_private ? store_.private_marks_ : store_.marks_; }
  std::uint64_t unit_of(Slot slot) const {
    return slot.is_private ? slot.number - store_.private_slots_->first_unit() : slot.number;
  }
  // Calls f(marks, first unit, units, slot of unit 0) for the slots of this rank.
  template <class F>
  void for_marks(F&& f) const {
    const SlabAllocator& slots = store_.slots_;
    f(store_.marks_, slots.first_unit(), slots.max_units(), Slot{0, false});
    if (!store_.private_slots_) return;
    const SlabAllocator& own = *store_.private_slots_;
    f(store_.private_marks_, 0, own.max_units(), Slot{static_cast<std::uint32_t>(own.first_unit()), true});
  }

  // write or inspect.
  template <class F>
  bool access(Key key, bool writes, F& f) {
    Store::Word& word = *store_.words_.find(key);
    const Latched latched{word, store_.latch_open(word, SlotBits::kOpenValue), writes};
    if (!latched.bits.latched()) return false;
    f(store_.address_of(latched.bits));
    return true;
  }
  void publish(Key key, RoleEvent event, Role role, std::uint32_t low);
  // Sets the slot word to f(word, content), under the latch, unless f returns nullopt. Returns false if the
  // key is leased or f returned nullopt.
  template <class F>
  bool change(Key key, RoleEvent event, F&& f) {
    Store::Word& word = *store_.words_.find(key);
    Latched guard{word, store_.latch_open(word, SlotBits::kOpenValue), false};
    const SlotWord latched(guard.bits);
    if (!latched.latched()) return false;
    const std::optional<SlotWord> after = f(latched, store_.address_of(latched));
    if (!after) return false;
    check(key, latched.role(), event, after->role());
    guard.bits = SlotBits();
    word.store(after->bits(), std::memory_order_release);
    store_.role_changed(key, latched.role(), after->role());
    return true;
  }
  template <class F, class After>
  Result leave(Key key, RoleEvent event, F&& f, After&& after) {
    bool owned = false;
    bool refused = false;
    const bool done = change(key, event, [&](SlotWord word, std::byte* content) -> std::optional<SlotWord> {
      owned = word.is_owner();
      refused = !f(content);
      return refused ? std::nullopt : std::optional(after(word));
    });
    if (done && owned) store_.count_here(key, false);
    return done ? Result::done : refused ? Result::refused : Result::leased;
  }
  template <class F>
  void store_leased(Key key, F&& f) {
    Store::Word& word = store_.leased_word(key);
    const SlotWord after = f(SlotWord(word.load(std::memory_order_acquire)));
    word.store(after.bits(), std::memory_order_release);
    if (!after.is_owner()) store_.role_changed(key, Role::owner, after.role());
  }
  static void check(Key key, Role role, RoleEvent event, Role after) {
    if (next_role(role, event) != after) Store::throw_illegal_event(key, role, event);
  }

  Store& store_;
};

}  // namespace lapse
