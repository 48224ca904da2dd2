// The part of a table that one domain holds: words of keys, and a slot for every key that is here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "lapse/core/types.hpp"
#include "lapse/store/key_words.hpp"
#include "lapse/store/racy_copy.hpp"
#include "lapse/store/region.hpp"
#include "lapse/store/slab.hpp"
#include "lapse/store/slot_word.hpp"
#include "lapse/store/value_sizes.hpp"

namespace lapse {

// Knows keys, words and slots; neither owners nor messages. A slot holds the key's *content*: its value, then
// the state of the update rule.
//
// Words and slots may lie in memory that several ranks share, each with a store of its own over them. One of
// them serves a key: it alone changes the key's role and gives it slots.
//
// Thread safety: read and update by any thread of any of the ranks, and so are grant_lease and set_hint;
// release_lease by the holder of the lease; everything else under "roles" and "leases" by the holder of the
// serving rank's progress lock.
//
// Invariants:
// 1. The content of a key changes only under its latch, by the holder of its lease, or while no word names
// its slot.
// 2. A word names a slot only while the role is owner; a slot is released after its word has changed.
// 3. A read returns a value that the key had at one moment during the call.
class Store {
 public:
  // `regions` is used for slots, here and later; slots for `expected_units` are committed at once, there are
  // never more than `max_units`. Throws OutOfMemory.
  Store(RegionAllocator& regions, KeyWords words, ValueSizes sizes, std::uint64_t max_units,
        std::uint64_t expected_units);
  // Where this rank puts contents that no longer fit into the memory that its domain shares. Its units have
  // numbers of their own in the domain, so that nobody takes another rank's private slot for one of his.
  struct Overflow {
    RegionAllocator& regions;
    std::uint64_t first_unit;
    std::uint64_t max_units;
    std::function<void()> notice;  // called with the first
  };
  // One rank's part of a domain: `words` and `space` lie in memory that the ranks share.
  Store(KeyWords words, SlabSpace space, Overflow overflow, ValueSizes sizes, std::uint64_t expected_units);

  bool is_sparse() const { return words_.is_sparse(); }
  // The largest key there can be; keys() is one more (dense tables).
  std::uint64_t last_key() const { return words_.last_key(); }
  std::uint64_t keys() const { return words_.last_key() + 1; }
  bool has(Key key) const { return key.value() <= words_.last_key(); }
  const ValueSizes& sizes() const { return sizes_; }

  // --- access ---

  using Word = std::atomic<std::uint64_t>;

  // Copies the value to `to`; false when the key is not here or leased.
  bool read(Key key, std::byte* to) const { return read(key, to, sizes_.value_bytes(key)); }
  // The same for a caller who knows how long the value is.
  bool read(Key key, std::byte* to, std::size_t bytes) const {
    const Word* word = words_.find(key);
    return word != nullptr && read_at(*word, to, bytes);
  }

  // Calls f(content) with the latch held, in place; false (and no call) when the key is not here or leased.
  // When f throws, the latch is released and what f wrote stays.
  template <class F>
  bool update(Key key, F&& f) {
    Word* word = words_.find(key);
    return word != nullptr && update_at(*word, std::forward<F>(f));
  }

  // The words of up to kMostAtOnce keys, null for one that is unknown here; their values are on their way to
  // the cache. Then the same as read and update, for a key whose word this is.
  static constexpr std::size_t kMostAtOnce = KeyWords::kMostAtOnce;
  void find(std::span<const Key> keys, Word** words) const {
    words_.find(keys, words);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (words[i] != nullptr) prefetch_content(*words[i], sizes_.content_bytes(keys[i]));
    }
  }
  bool read_at(const Word& word, std::byte* to, std::size_t bytes) const {
#if !defined(__SANITIZE_THREAD__)
    for (int attempt = 0; attempt < kOptimisticAttempts; ++attempt) {
      const SlotWord before(word.load(std::memory_order_acquire));
      const std::byte* content = slots_.address(before.low());
      if (!before.is_readable()) [[unlikely]] {
        if (!is_open(before)) return false;
        if (before.latched()) continue;
        content = address(before.slot());
      }
      racy_copy(to, content, bytes);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (word.load(std::memory_order_relaxed) == before.bits()) [[likely]]
        return true;
    }
#endif
    return read_latched(const_cast<Word&>(word), to, bytes);
  }
  template <class F>
  bool update_at(Word& word, F&& f) {
    const std::optional<SlotWord> latched = latch_open_owner(word);
    if (!latched) return false;
    const Unlatch unlatch{word, *latched};
    std::forward<F>(f)(address(latched->slot()));
    return true;
  }
  // Whether the content lies where only the key's serving rank can address it, here or elsewhere.
  bool is_private(Key key) const {
    return word(key).slot().is_private;
  }

  // Reads the values of keys, one after the other and without gaps, up to the first that is not here or
  // leased, and returns how many that were. Dense tables whose values have one length only.
  std::size_t read_run(std::span<const Key> keys, std::byte* to) const;
  // The same for updates of keys: f(i, content) with the latch of keys[i] held. When f throws, what was done
  // before stays, and no latch does.
  template <class F>
  std::size_t update_run(std::span<const Key> keys, F&& f) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      prefetch_run(keys, i);
      if (!update_at(*words_.find(keys[i]), [&](std::byte* content) { f(i, content); })) return i;
    }
    return keys.size();
  }

  // For keys one after the other: far ahead, nearer (words), and near (the value's first lines, if the key is
  // here).
  void prefetch_far(Key key) const {
    words_.prefetch_far(key);
  }
  void prefetch_word(Key key) const {
    words_.prefetch_near(key);
  }
  void prefetch_value(Key key) const {
    if (const Word* word = words_.find(key)) prefetch_content(*word, sizes_.content_bytes(key));
  }

  // --- roles ---

  SlotWord word(Key key) const {
    return words_.load(key);
  }
  // What is known of a sparse key here: nothing when it has no word.
  struct Known {
    SlotWord word;
    std::uint32_t number;  // of the key: 0, 1, 2, … in the order in which keys became known
  };
  std::optional<Known> known(Key key) const {
    const Word* word = words_.find(key);
    if (word == nullptr) return std::nullopt;
    return Known{SlotWord(word->load(std::memory_order_acquire)), words_.number(*word)};
  }
  // Half of the keys that a sparse table may know of are kept free for those that come here.
  bool has_room_for_hints() const {
    return words_.size() < words_.most() / 2;
  }
  // The number of a sparse key, which becomes known.
  std::uint32_t make_number(Key key) {
    return words_.number(words_.find_or_insert(key));
  }

  // absent -> owner of a new content, which fill(content) writes before anybody may look.
  template <class F>
  void create(Key key, F&& fill) {
    const Slot slot = allocate_slot(key);
    const ReleaseUnlessPublished guard{*this, key, slot};
    std::forward<F>(fill)(address(slot));
    publish(key, words_.find_or_insert(key), RoleEvent::create,
            [&](SlotWord word) { return word.owner(slot); });
    guard.published = true;
  }
  // absent -> arriving; `arrival` is kept in the word.
  void begin_arrival(Key key, std::uint32_t arrival);
  // A slot for a content that has come, not yet visible to anybody.
  Slot allocate_slot(Key key);
  // The memory of a slot that this rank can address.
  std::byte* address(Slot slot) const {
    if (!slot.is_private) [[likely]]
      return slots_.address(slot.number);
    return private_slots_.load(std::memory_order_acquire)->address(slot.number);
  }
  void release_slot(Key key, Slot slot) {
    (slot.is_private ? *private_owner_ : slots_).release(slot.number, sizes_.units(key));
  }
  // arriving -> owner of the content in `slot`, open or leased from the start.
  void publish_owner(Key key, Slot slot, LeaseState lease = LeaseState::none);
  // arriving -> absent: the content came and went on to `next`.
  void pass_on(Key key, Domain next);
  // owner, open -> absent: copies the content to `to` and forgets it. The new owner is kept as location hint.
  // False, and nothing has happened, when the key is or was leased.
  bool hand_over(Key key, std::byte* to, Domain next);
  // The same for a leased key whose lease has ended and is being drained.
  void hand_over_leased(Key key, std::byte* to, Domain next);
  // Changes the location hint of an absent key; nothing when the key is in another role, or when it has no
  // word and there is no memory for one: nothing is lost with a hint but a shorter way.
  void set_hint(Key key, Domain hint);

  // --- leases (owner only) ---

  // Gives the key to one holder; false when it is leased already.
  bool grant_lease(Key key);
  // Where the holder of a lease finds the content.
  std::byte* leased_content(Key key) const {
    return address(word(key).slot());
  }
  // Marks that something waits for the end of the lease; false when the key is not leased (any more).
  bool mark_queued(Key key);
  // Ends a lease. False, and it goes on, when something is queued: then the engine ends it.
  bool release_lease(Key key);
  // What a leased key is after its queue has been looked at.
  void set_lease(Key key, LeaseState lease);

  // --- what there is ---

  // Calls f(key) for every key that is here at the moment of looking.
  template <class F>
  void for_each_here(F&& f) const {
    words_.for_each([&](Key key, const Word& word) {
      if (has_main_copy(SlotWord(word.load(std::memory_order_acquire)).role())) f(key);
    });
  }
  std::uint64_t keys_here() const {
    return keys_here_.load(std::memory_order_relaxed);
  }
  // Bytes of the values and rule states of keys that are here.
  std::uint64_t content_bytes_here() const {
    return content_bytes_here_.load(std::memory_order_relaxed);
  }
  // Bytes beside them: words and lengths, and slabs less the contents that lie in them.
  std::size_t word_bytes() const {
    return words_.committed_bytes() + sizes_.bytes();
  }
  std::size_t slab_bytes() const {
    return slots_.committed_bytes() + (private_owner_ ? private_owner_->committed_bytes() : 0);
  }

 private:
  static constexpr int kOptimisticAttempts = 8;
  static constexpr int kLatchSpins = 100;
  static constexpr std::size_t kPrefetchBytes = 512;

  struct Unlatch {
    Word& word;
    SlotWord latched;
    ~Unlatch() { word.store(latched.after_write().bits(), std::memory_order_release); }
  };
  struct ReleaseUnlessPublished {
    Store& store;
    Key key;
    Slot slot;
    mutable bool published = false;
    ~ReleaseUnlessPublished() {
      if (!published) store.release_slot(key, slot);
    }
  };

  bool is_own_private(std::uint32_t slot) const {
    const SlabAllocator* slots = private_slots_.load(std::memory_order_acquire);
    return slots != nullptr && slots->is_own(slot);
  }
  // Owner, not leased, and this rank can address the slot.
  bool is_open(SlotWord word) const {
    return word.is_open_owner() && (!word.slot().is_private || is_own_private(word.low()));
  }
  // Takes the latch and returns the word as it is now (latched); nothing when the key is not here or leased.
  std::optional<SlotWord> latch_open_owner(Word& word) const {
    std::uint64_t bits = word.load(std::memory_order_relaxed);
    for (int spins = 0;;) {
      const SlotWord seen(bits);
      if (!is_open(seen)) return std::nullopt;
      if (!seen.latched()) {
        if (word.compare_exchange_weak(bits, seen.with_latch().bits(), std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[likely]] {
          std::atomic_thread_fence(std::memory_order_release);
          return seen.with_latch();
        }
        continue;
      }
      if (++spins > kLatchSpins) {
        std::this_thread::yield();
        spins = 0;
      }
      bits = word.load(std::memory_order_relaxed);
    }
  }

  bool read_latched(Word& word, std::byte* to, std::size_t bytes) const;
  void prefetch_run(std::span<const Key> keys, std::size_t at) const {
    constexpr std::size_t kWordsAhead = 16;
    constexpr std::size_t kValuesAhead = 6;
    if (at + kWordsAhead < keys.size()) words_.prefetch_near(keys[at + kWordsAhead]);
    if (at + kValuesAhead < keys.size())
      prefetch_content(*words_.find(keys[at + kValuesAhead]), sizes_.layout().content_bytes());
  }
  void prefetch_content(const Word& at, std::size_t bytes) const {
    const SlotWord word(at.load(std::memory_order_relaxed));
    if (!word.is_open_owner() || word.slot().is_private) return;
    const std::byte* content = slots_.address(word.low());
    for (std::size_t line = 0; line < bytes && line < kPrefetchBytes; line += 64)
      __builtin_prefetch(content + line);
  }
  // Changes the word of a key by an event, to what after_event(word) gives, without its latch: meanwhile nobody
  // else may change more of it than an absent key's hint.
  template <class AfterEvent>
  void publish(Key key, Word& word, RoleEvent event, AfterEvent&& after_event) {
    std::uint64_t bits = word.load(std::memory_order_relaxed);
    for (;;) {
      const SlotWord before(bits);
      const SlotWord after = after_event(before);
      if (next_role(before.role(), event) != after.role()) throw_illegal_event(key, before.role(), event);
      if (!others_write_word(before.role())) {
        // A store does not wait for the value to reach the cache.
        word.store(after.bits(), std::memory_order_release);
      } else if (!word.compare_exchange_weak(bits, after.bits(), std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
        continue;
      }
      if (has_main_copy(after.role())) count_here(key, true);
      return;
    }
  }
  [[noreturn]] static void throw_illegal_event(Key key, Role role, RoleEvent event);
  void count_here(Key key, bool here);
  void forget(Key key, Slot slot);
  std::atomic<std::uint64_t>& leased_word(Key key) const;

  // constant
  ValueSizes sizes_;
  // own rules
  KeyWords words_;
  SlabAllocator slots_;
  std::optional<Overflow> overflow_;
  std::unique_ptr<SlabAllocator> private_owner_;         // progress lock
  std::atomic<SlabAllocator*> private_slots_ = nullptr;  // the same for any thread of this rank
  // written under the progress lock
  std::atomic<std::uint64_t> keys_here_{0};
  std::atomic<std::uint64_t> content_bytes_here_{0};
};

}  // namespace lapse
