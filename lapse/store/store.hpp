// One domain's part of a table: slot words of keys, and a slot for every local key.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "lapse/core/types.hpp"
#include "lapse/store/memory/region.hpp"
#include "lapse/store/memory/slab.hpp"
#include "lapse/store/slot_access.hpp"
#include "lapse/store/slot_head.hpp"
#include "lapse/store/slot_marks.hpp"
#include "lapse/store/values/value_sizes.hpp"
#include "lapse/store/words/key_words.hpp"
#include "lapse/store/words/racy_copy.hpp"
#include "lapse/store/words/role_watch.hpp"
#include "lapse/store/words/slot_word.hpp"

namespace lapse {

// Stores slot words and slots by key; knows neither owners nor messages. A slot holds the key's *value and
// optimizer state*.
//
// Several ranks may share the memory of slot words and slots, each with its own Store over it. One of these
// ranks serves a key: only it changes the key's role and allocates its slots.
//
// Thread safety: SlotAccess's functions, grant_lease and set_hint by any thread of any of the ranks;
// release_lease by the holder of the lease; everything else under "roles" and "leases" by the holder of the
// serving rank's progress lock.
//
// Invariants, in addition to those of SlotAccess:
// 1. A slot word names a slot only while a value is usable; the slot is released after the word has changed.
class Store : public SlotAccess, public WatchedRoles {
 public:
  // Takes slots from `regions` throughout its lifetime. Commits slots for `expected_units` at once; there are
  // at most `max_units`. Throws OutOfMemory.
  Store(RegionAllocator& regions, KeyWords words, ValueSizes sizes, std::uint64_t max_units,
        std::uint64_t expected_units);
  // Memory for this rank's slots that do not fit into the domain's shared memory. Its units have numbers of
  // their own in the domain, so that no rank takes another rank's private slot for its own.
  struct Overflow {
    RegionAllocator& regions;
    std::uint64_t first_unit;
    std::uint64_t max_units;
    std::function<void()> notice;         // called with the first private slot
    std::string owner_label = "a table";  // begins error messages
  };
  // One rank's part of a domain: `words` and `space` are in memory that the ranks share. `marks`: for tables
  // that may have replicas.
  Store(KeyWords words, SlabSpace space, Overflow overflow, ValueSizes sizes, std::uint64_t expected_units,
        const DirtySet& marks = {});

  bool is_sparse() const { return words_.is_sparse(); }
  // The largest possible key; keys() is one more (dense tables).
  std::uint64_t last_key() const { return words_.last_key(); }
  std::uint64_t keys() const { return words_.last_key() + 1; }
  bool has(Key key) const { return key.value() <= words_.last_key(); }
  const ValueSizes& sizes() const { return sizes_; }
  // Number of units that this rank may allocate.
  std::uint64_t max_units() const { return slots_.max_units(); }
  // Whether keys may have replicas on several domains (KeyCopies).
  bool may_have_copies() const { return sizes_.layout().copies != Copies::none; }

  // --- access, in addition to that of SlotAccess ---

  using SlotAccess::find;
  using SlotAccess::read;

  // Copies the value to `to`; returns false if the key is not local or is leased.
  Found read(Key key, std::byte* to) const { return read(key, to, sizes_.value_bytes(key)); }

  // Like read, of the main copy only.
  Found read_main(Key key, std::byte* to) const {
    Word* const word = words_.find(key);
    return word == nullptr ? Found() : read_latched(*word, SlotBits::kOpenOwner, to, sizes_.value_bytes(key));
  }
  // Like update, of the main copy only.
  template <class F>
  Found update_main(Key key, F&& f) {
    Word* const word = words_.find(key);
    return word == nullptr ? Found() : update_if(*word, SlotBits::kOpenOwner, std::forward<F>(f));
  }
  // The copies that an access may use: the main copy, a replica too, or only a main copy without replicas.
  enum class Reach : std::uint8_t { main, any, sole };
  // Like update_at; uses replicas as far as the update rule allows.
  template <class F>
  Found update_at(Word& word, Reach reach, F&& f) {
    return update_if(word, changes(reach), std::forward<F>(f));
  }
  // Calls f(slot, is_copy) with the latch held, whatever the update rule lets change in place.
  template <class F>
  Found update_any_at(Word& word, F&& f) {
    const SlotBits latched = latch_open(word, SlotBits::kOpenValue);
    if (!latched.latched()) return {};
    change(word, latched, [&](std::byte* slot) { std::forward<F>(f)(slot, latched.is_copy()); });
    return Found(latched);
  }
  // The version of the main copy that this domain's replica shows; 0 if there is none, or none that is usable
  // yet. For a table that may have replicas.
  std::uint64_t copy_version(const Word& word) const;
  // The version of the key's main copy, which is in this domain. Serving rank.
  std::uint64_t main_version(Key key) const { return SlotHead::version_of(address(word(key).slot())); }

  // Like read_at and update_at, without waiting for a thread that holds the latch.
  enum class Attempt : std::uint8_t { done, done_on_copy, not_local, latched };
  Attempt try_read_at(Word& word, std::byte* to, std::size_t bytes) const;
  template <class F>
  Attempt try_update_at(Word& word, Reach reach, F&& f) {
    Attempt attempt = Attempt::done;
    if (const SlotBits latched = try_latch(word, changes(reach), attempt); latched.latched()) {
      change(word, latched, std::forward<F>(f));
    }
    return attempt;
  }

  // Finds the slot words of up to kMaxAtOnce keys, null for a key that has none; prefetches their values.
  static constexpr std::size_t kMaxAtOnce = KeyWords::kMaxAtOnce;
  void find(std::span<const Key> keys, Word** words) const {
    words_.find(keys, words);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (words[i] != nullptr) prefetch_content(*words[i], sizes_.content_bytes(keys[i]));
    }
  }
  // The memory of a slot that this rank can address.
  std::byte* address(Slot slot) const {
    return slot.is_private ? private_address(slot.number) : shared_address(slot.number);
  }
  // Whether only the key's serving rank, this or another one, can address the slot.
  bool is_private(Key key) const { return word(key).slot().is_private; }

  // How many keys of a run were handled, from the first on, and how many of them on a replica.
  struct Run {
    std::size_t keys = 0;
    std::size_t copies = 0;
  };
  // Reads the values of keys, contiguously, up to the first key that is not local or is leased. Only for
  // tables whose values have one length.
  template <Reach reach>
  Run read_run(std::span<const Key> keys, std::byte* to) const;
  // Updates keys as read_run reads them: f(i, slot) with the latch of keys[i] held. If f throws, earlier
  // updates stay and no latch is held.
  template <class F>
  Run update_run(std::span<const Key> keys, Reach reach, F&& f);

  // Prefetching for keys in a known order: far ahead, nearer (slot words), near (lines of local values).
  void prefetch_far(Key key) const { words_.prefetch_far(key); }
  void prefetch_word(Key key) const { words_.prefetch_near(key); }
  void prefetch_value(Key key) const {
    if (const Word* word = words_.find(key)) prefetch_content(*word, sizes_.content_bytes(key));
  }

  // --- roles ---

  SlotWord word(Key key) const { return words_.load(key); }
  // This domain's record of a sparse key; nullopt if it has no slot word.
  struct Known {
    SlotWord word;
    std::uint32_t number;  // of the key: 0, 1, 2, … in the order in which keys became known
  };
  std::optional<Known> known(Key key) const {
    const Word* word = words_.find(key);
    if (word == nullptr) return std::nullopt;
    return Known{SlotWord(word->load(std::memory_order_acquire)), words_.number(*word)};
  }
  // Number of slot words that a sparse table may have; half are reserved for keys that move here.
  std::uint64_t max_keys() const { return words_.max_keys(); }
  bool has_room_for_hints() const { return words_.size() < max_keys() / 2; }
  // The number of a sparse key; inserts its slot word if needed.
  std::uint32_t make_number(Key key) { return words_.number(words_.find_or_insert(key)); }

  // absent -> owner of a new value, which fill(slot) writes before any thread can read it.
  template <class F>
  void create(Key key, F&& fill) {
    const Slot slot = allocate_slot(key);
    const ReleaseUnlessPublished guard{*this, key, slot};
    std::forward<F>(fill)(address(slot));
    if (may_have_copies()) SlotHead::set_version(address(slot), 1);
    publish(key, words_.find_or_insert(key), RoleEvent::create,
            [&](SlotWord word) { return word.owner(slot); });
    guard.published = true;
  }
  // Reserves what a key needs to move to this domain: a slot word, space for its value, and space for the
  // mark of a main copy with replicas. Throws OutOfMemory, or what the application's function of lengths
  // throws, with no effect. If all values have one length, the slot itself is chosen when the value arrives;
  // otherwise it is the one returned.
  Slot prepare_arrival(Key key);
  // The slot for the value that has arrived, after prepare_arrival.
  Slot arrival_slot(Key key, Slot prepared) {
    if (!sizes_.uniform()) return prepared;
    return {slots_of(prepared).take_promised(sizes_.units(key)), prepared.is_private};
  }
  // Undoes prepare_arrival: no value will arrive.
  void cancel_arrival(Key key, Slot prepared) {
    if (!sizes_.uniform()) return release_slot(key, prepared);
    slots_of(prepared).withdraw_promise(sizes_.units(key));
  }
  // Like prepare_arrival for `keys` keys of a dense table whose values have one length, in memory that the
  // domain shares. Returns false, with no effect, if there is not enough space for all of them.
  bool try_prepare_arrivals(std::uint32_t keys) {
    if (!slots_.try_promise(keys)) return false;
    if (try_cover_slots()) return true;
    slots_.withdraw_promise(keys);
    return false;
  }
  void cancel_arrivals(std::uint32_t keys) { slots_.withdraw_promise(keys); }
  // absent -> arriving, after prepare_arrival; the slot word stores `arrival`.
  void begin_arrival(Key key, std::uint32_t arrival);
  // A slot for a value, not yet visible to other threads.
  Slot allocate_slot(Key key);
  void release_slot(Key key, Slot slot) { slots_of(slot).release(slot.number, sizes_.units(key)); }
  // arriving -> owner of the value in `slot`, open or leased; `replicated`: other domains hold replicas.
  void publish_owner(Key key, Slot slot, LeaseState lease = LeaseState::none, bool replicated = false);
  // arriving -> absent: the value arrived and moved on to `next`.
  void pass_on(Key key, Domain next);
  // arriving -> absent: no value will arrive.
  void refuse(Key key);
  // owner, open -> absent: copies value and optimizer state to `to`, releases the slot and keeps the new
  // owner as location hint. Returns false, with no effect, if the key is or was leased.
  bool transfer_ownership(Key key, std::byte* to, Domain next);
  // Like transfer_ownership, for a leased key whose lease has ended and is being drained.
  void transfer_leased_ownership(Key key, std::byte* to, Domain next);
  // Changes the location hint of an absent key. Does nothing if the key has another role, or has no slot word
  // and memory for one cannot be allocated: a lost hint costs only a hop.
  void set_hint(Key key, Domain hint);

  // --- leases (owner only) ---

  // Leases the key to one holder; false if it is already leased.
  bool grant_lease(Key key);
  // The address of a leased key's value and optimizer state, for the lease holder.
  std::byte* leased_content(Key key) const { return address(word(key).slot()); }
  // Marks that an operation waits for the end of the lease; false if the key is not leased (any more).
  bool mark_queued(Key key);
  // Ends a lease. Returns false, and the lease continues, if something is queued: then the engine ends it.
  bool release_lease(Key key);
  // Sets the state of a leased key after its queue was drained.
  void set_lease(Key key, LeaseState lease);

  // --- contents ---

  // Calls f(key) for every key that is local at the moment it is visited.
  template <class F>
  void for_each_here(F&& f) const;
  // Calls f(key, slot) for every main copy in a slot of this rank: its served keys. Dense: ascending.
  template <class F>
  void for_each_own(F&& f) const;
  const KeyWords& words() const { return words_; }  // to visit all slot words
  std::size_t own_slot_bytes() const;               // of slots that are in use
  std::uint64_t keys_here() const { return keys_here_.load(std::memory_order_relaxed); }
  // Bytes of local values and optimizer states.
  std::uint64_t content_bytes_here() const { return content_bytes_here_.load(std::memory_order_relaxed); }
  // Bytes besides the values: slot words and lengths, and whole slabs.
  std::size_t word_bytes() const { return words_.committed_bytes() + sizes_.bytes(); }
  std::size_t slab_bytes() const {
    return slots_.committed_bytes() + (private_slots_ ? private_slots_->committed_bytes() : 0);
  }

 private:
  friend class KeyCopies;
  friend class KeyRun;
  friend class RowElements;

  static constexpr std::size_t kPrefetchBytes = 512;

  struct ReleaseUnlessPublished {
    Store& store;
    Key key;
    Slot slot;
    mutable bool published = false;
    ~ReleaseUnlessPublished() {
      if (!published) store.release_slot(key, slot);
    }
  };

  SlotBits::Test changes(Reach reach) const {
    if (reach == Reach::sole) return SlotBits::kSoleOwner;
    return reach == Reach::any ? in_place() : SlotBits::kOpenOwner;
  }
  // Latches the slot word if possible at once; otherwise returns it unlatched, with the reason in `attempt`.
  SlotBits try_latch(Word& word, SlotBits::Test test, Attempt& attempt) const;
  Attempt try_read_latched(Word& word, std::byte* to, std::size_t bytes) const;
  template <Reach reach>
  Found read_one(const Word& word, std::byte* to, std::size_t bytes) const {
    if (reach == Reach::any) return read_at(word, to, bytes);
    return read_latched(const_cast<Word&>(word), SlotBits::kOpenOwner, to, bytes);
  }

  SlabAllocator& slots_of(Slot slot) { return slot.is_private ? *private_slots_ : slots_; }
  // In this rank's own memory, for values that do not fit into shared memory.
  SlabAllocator& private_slots();
  // Like SlotAccess::latch_open, with the whole slot word; nullopt if the key is not owned or is leased.
  std::optional<SlotWord> latch_open_owner(Word& word) const {
    const SlotBits latched = latch_open(word, SlotBits::kOpenOwner);
    return latched.latched() ? std::optional(SlotWord(latched)) : std::nullopt;
  }
  void prefetch_run(std::span<const Key> keys, std::size_t at, std::size_t bytes) const;
  void prefetch_change(const Word& at) const;
  void prefetch_content(const Word& at, std::size_t bytes) const;
  // Changes a key's slot word by an event, to after_event(word), without its latch: other threads can
  // meanwhile change only an absent key's hint.
  template <class AfterEvent>
  void publish(Key key, Word& word, RoleEvent event, AfterEvent&& after_event);
  [[noreturn]] static void throw_illegal_event(Key key, Role role, RoleEvent event);
  void count_here(Key key, bool here) {
    const auto bytes = static_cast<std::int64_t>(sizes_.content_bytes(key));
    count_here(here ? 1 : -1, here ? bytes : -bytes);
  }
  // `keys` keys became local, or, if negative, ceased to be.
  void count_here(std::int64_t keys, std::int64_t bytes) {
    const auto add = [](std::atomic<std::uint64_t>& count, std::int64_t change) {
      count.store(count.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(change),
                  std::memory_order_relaxed);
    };
    add(keys_here_, keys);
    add(content_bytes_here_, bytes);
  }
  void use_marks(SlotMarks marks);
  // Whether every slot with memory can be marked. Commits memory for the marks, or throws why it cannot.
  bool cover_slots(bool is_private);
  bool try_cover_slots();  // of the slots that are not private; never throws
  void forget(Key key, Slot slot);
  std::atomic<std::uint64_t>& leased_word(Key key) const;

  // constant
  ValueSizes sizes_;
  // own rules
  KeyWords words_;
  SlabAllocator slots_;
  std::optional<Overflow> overflow_;
  std::unique_ptr<SlabAllocator> private_slots_;  // changed under the progress lock
  SlotMarks marks_;
  SlotMarks private_marks_;  // by units counted from the first
  // written under the progress lock
  std::atomic<std::uint64_t> keys_here_{0};
  std::atomic<std::uint64_t> content_bytes_here_{0};
};

}  // namespace lapse

#include "lapse/store/store_inline.hpp"
