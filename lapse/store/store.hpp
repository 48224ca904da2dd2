// The part of a table that one domain holds: slot words of keys, and a slot for every key that is local.
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

// Stores slot words and slots by key; handles neither owners nor messages. A slot holds the key's *value and
// optimizer state*.
//
// Slot words and slots may be stored in memory that several ranks share, each with a store of its own over
// them. One of these ranks serves a key: it alone changes the key's role and gives it slots.
//
// Thread safety: everything of SlotAccess by any thread of any of the ranks, and so are grant_lease and
// set_hint; release_lease by the holder of the lease; everything else under "roles" and "leases" by the
// holder of the serving rank's progress lock.
//
// Invariants, beside those of SlotAccess:
// 1. A slot word names a slot only while a value is usable; the slot is released after the word has changed.
class Store : public SlotAccess, public WatchedRoles {
 public:
  // `regions` is used for slots, now and later. Slots for `expected_units` are committed at once; there are
  // at most `max_units`. Throws OutOfMemory.
  Store(RegionAllocator& regions, KeyWords words, ValueSizes sizes, std::uint64_t max_units,
        std::uint64_t expected_units);
  // Where this rank stores slots that no longer fit into the memory that its domain shares. Its units have
  // numbers of their own in the domain, so that no rank takes another rank's private slot for its own.
  struct Overflow {
    RegionAllocator& regions;
    std::uint64_t first_unit;
    std::uint64_t max_units;
    std::function<void()> notice;         // called with the first private slot
    std::string owner_label = "a table";  // begins the messages of errors
  };
  // One rank's part of a domain: `words` and `space` are stored in memory that the ranks share.
  // `marks`: for tables that may have copies.
  Store(KeyWords words, SlabSpace space, Overflow overflow, ValueSizes sizes, std::uint64_t expected_units,
        const DirtySet& marks = {});

  bool is_sparse() const { return words_.is_sparse(); }
  // The largest key there can be; keys() is one more (dense tables).
  std::uint64_t last_key() const { return words_.last_key(); }
  std::uint64_t keys() const { return words_.last_key() + 1; }
  bool has(Key key) const { return key.value() <= words_.last_key(); }
  const ValueSizes& sizes() const { return sizes_; }
  // Units of slots that this rank may give out.
  std::uint64_t max_units() const { return slots_.max_units(); }
  // Keys may have copies on several domains (KeyCopies).
  bool may_have_copies() const { return sizes_.layout().copies != Copies::none; }

  // --- access, beside that of SlotAccess ---

  using SlotAccess::find;
  using SlotAccess::read;

  // Copies the value to `to`; nothing when the key is not local or leased.
  Found read(Key key, std::byte* to) const { return read(key, to, sizes_.value_bytes(key)); }

  // As read, of the main copy alone.
  Found read_main(Key key, std::byte* to) const {
    Word* const word = words_.find(key);
    return word == nullptr ? Found() : read_latched(*word, SlotBits::kOpenOwner, to, sizes_.value_bytes(key));
  }
  // As update, of the main copy alone.
  template <class F>
  Found update_main(Key key, F&& f) {
    Word* const word = words_.find(key);
    return word == nullptr ? Found() : update_main_at(*word, std::forward<F>(f));
  }
  template <class F>
  Found update_main_at(Word& word, F&& f) {
    return update_if(word, SlotBits::kOpenOwner, std::forward<F>(f));
  }
  // What an access may use: the main copy alone, or another copy, too.
  enum class Reach : std::uint8_t { main, any };
  // As update_at, where copies are used as far as the update rule allows that.
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
  // The version of the main copy that a copy in this domain shows; 0 where there is none, or where it is not
  // usable yet. A table that may have copies.
  std::uint64_t copy_version(const Word& word) const;
  // That of the key's main copy, which is in this domain. Serving rank.
  std::uint64_t main_version(Key key) const { return SlotHead::version_of(address(word(key).slot())); }

  // As read_at and update_at, without waiting for a thread that holds the latch.
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

  // The slot words of up to kMaxAtOnce keys, null for a key that has none; prefetches their values.
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
  // Whether the slot is stored where only the key's serving rank can address it, this rank or another.
  bool is_private(Key key) const { return word(key).slot().is_private; }

  // What was done in a run of keys: how many of them, from the first on, and how many on a copy that is not
  // the main one.
  struct Run {
    std::size_t keys = 0;
    std::size_t copies = 0;
  };
  // Reads the values of keys, one after the other and without gaps, up to the first key that is not local or
  // leased. Tables whose values have one length only.
  template <Reach reach>
  Run read_run(std::span<const Key> keys, std::byte* to) const;
  // Updates keys as read_run reads them: f(i, slot) with the latch of keys[i] held. When f throws, earlier
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
  // What this domain stores about a sparse key: nothing when it has no slot word.
  struct Known {
    SlotWord word;
    std::uint32_t number;  // of the key: 0, 1, 2, … in the order in which keys became known
  };
  std::optional<Known> known(Key key) const {
    const Word* word = words_.find(key);
    if (word == nullptr) return std::nullopt;
    return Known{SlotWord(word->load(std::memory_order_acquire)), words_.number(*word)};
  }
  // The slot words that a sparse table may have; half are kept free for keys that come to this domain.
  std::uint64_t max_keys() const { return words_.max_keys(); }
  bool has_room_for_hints() const { return words_.size() < max_keys() / 2; }
  // The number of a sparse key, which gets a slot word.
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
  // Keeps what a key needs to come to this domain: a slot word, room for its value, and for the mark of a
  // main copy that other domains hold copies of. Throws OutOfMemory, or what the application's function of
  // lengths throws; then nothing has changed. Where all values have one length, the slot itself is chosen
  // when the value comes; else it is the one that is returned.
  Slot prepare_arrival(Key key);
  // The slot for the value that has come, after prepare_arrival.
  Slot arrival_slot(Key key, Slot prepared) {
    if (!sizes_.uniform()) return prepared;
    return {slots_of(prepared).take_promised(sizes_.units(key)), prepared.is_private};
  }
  // No value will come, after prepare_arrival.
  void cancel_arrival(Key key, Slot prepared) {
    if (!sizes_.uniform()) return release_slot(key, prepared);
    slots_of(prepared).withdraw_promise(sizes_.units(key));
  }
  // As prepare_arrival for `keys` keys of a dense table whose values have one length, in memory that the
  // domain shares. False where there is no room for all of them: nothing has changed.
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
  // arriving -> owner of the value in `slot`, open or leased; `replicated`: other domains hold copies.
  void publish_owner(Key key, Slot slot, LeaseState lease = LeaseState::none, bool replicated = false);
  // arriving -> absent: the value came and went on to `next`.
  void pass_on(Key key, Domain next);
  // arriving -> absent: no value will come.
  void refuse(Key key);
  // owner, open -> absent: copies value and optimizer state to `to` and releases the slot. The new owner is
  // kept as location hint. False, and nothing has happened, when the key is or was leased.
  bool transfer_ownership(Key key, std::byte* to, Domain next);
  // As transfer_ownership, for a leased key whose lease has ended and is being drained.
  void transfer_leased_ownership(Key key, std::byte* to, Domain next);
  // Changes the location hint of an absent key. Does nothing when the key is in another role, or when it has
  // no slot word and there is no memory for one: a lost hint costs a hop, no more.
  void set_hint(Key key, Domain hint);

  // --- leases (owner only) ---

  // Gives the key to one holder; false when it is leased already.
  bool grant_lease(Key key);
  // Where the holder of a lease finds the key's value and optimizer state.
  std::byte* leased_content(Key key) const { return address(word(key).slot()); }
  // Marks that something waits for the end of the lease; false when the key is not leased (any more).
  bool mark_queued(Key key);
  // Ends a lease. False, and the lease goes on, when something is queued: then the engine ends it.
  bool release_lease(Key key);
  // Sets the state of a leased key after its queue was drained.
  void set_lease(Key key, LeaseState lease);

  // --- what there is ---

  // Calls f(key) for every key that is local at the moment it is visited.
  template <class F>
  void for_each_here(F&& f) const;
  // Calls f(key, slot) for every main copy in a slot of this rank: of the keys that it serves. Dense: rising.
  template <class F>
  void for_each_own(F&& f) const;
  const KeyWords& words() const { return words_; }  // to visit all slot words
  std::size_t own_slot_bytes() const;               // of slots that are in use
  std::uint64_t keys_here() const { return keys_here_.load(std::memory_order_relaxed); }
  // Of their values and optimizer states.
  std::uint64_t content_bytes_here() const { return content_bytes_here_.load(std::memory_order_relaxed); }
  // Bytes beside the values: slot words and lengths, and whole slabs.
  std::size_t word_bytes() const { return words_.committed_bytes() + sizes_.bytes(); }
  std::size_t slab_bytes() const {
    return slots_.committed_bytes() + (private_slots_ ? private_slots_->committed_bytes() : 0);
  }

 private:
  friend class KeyCopies;
  friend class KeyRun;

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
    return reach == Reach::any ? in_place() : SlotBits::kOpenOwner;
  }
  // The slot word with its latch, if it can be had at once; else without it, and `attempt` is why.
  SlotBits try_latch(Word& word, SlotBits::Test test, Attempt& attempt) const;
  Attempt try_read_latched(Word& word, std::byte* to, std::size_t bytes) const;
  template <Reach reach>
  Found read_one(const Word& word, std::byte* to, std::size_t bytes) const {
    if (reach == Reach::any) return read_at(word, to, bytes);
    return read_latched(const_cast<Word&>(word), SlotBits::kOpenOwner, to, bytes);
  }

  SlabAllocator& slots_of(Slot slot) { return slot.is_private ? *private_slots_ : slots_; }
  // In memory of this rank alone, for values that shared memory has no room for.
  SlabAllocator& private_slots();
  // As SlotAccess does, with the whole slot word; nothing when the key is not owned, or leased.
  std::optional<SlotWord> latch_open_owner(Word& word) const {
    const SlotBits latched = latch_open(word, SlotBits::kOpenOwner);
    return latched.latched() ? std::optional(SlotWord(latched)) : std::nullopt;
  }
  void prefetch_run(std::span<const Key> keys, std::size_t at) const;
  void prefetch_content(const Word& at, std::size_t bytes) const;
  // Changes the slot word of a key by an event, to the result of after_event(word), without its latch:
  // meanwhile other threads may change an absent key's hint, no more.
  template <class AfterEvent>
  void publish(Key key, Word& word, RoleEvent event, AfterEvent&& after_event);
  [[noreturn]] static void throw_illegal_event(Key key, Role role, RoleEvent event);
  void count_here(Key key, bool here) {
    const auto bytes = static_cast<std::int64_t>(sizes_.content_bytes(key));
    count_here(here ? 1 : -1, here ? bytes : -bytes);
  }
  // So many have become local, or no longer are.
  void count_here(std::int64_t keys, std::int64_t bytes) {
    const auto add = [](std::atomic<std::uint64_t>& count, std::int64_t change) {
      count.store(count.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(change),
                  std::memory_order_relaxed);
    };
    add(keys_here_, keys);
    add(content_bytes_here_, bytes);
  }
  // Whether every slot that has memory can be marked; makes room for the marks, or throws why there is none.
  bool cover_slots(bool is_private);
  bool try_cover_slots();  // of the slots that are not private; throws nothing
  [[noreturn]] void throw_unmarkable(Key key) const;
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
