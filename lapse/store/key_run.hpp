// Changes the roles of many keys in a row.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "lapse/core/role_table.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/slot_head.hpp"
#include "lapse/store/store.hpp"
#include "lapse/store/words/slot_word.hpp"

namespace lapse {

// The plain cases of Store's changes of roles, inlined: for dense tables whose values have one length, and
// slots in memory that the domain shares. All other cases are left to Store. The numbers of local keys and
// bytes are updated once, at the end.
//
// Thread safety: the holder of the serving rank's progress lock.
class KeyRun {
 public:
  // Whether all keys of the store may be handled in runs.
  static bool suits(const Store& store) { return !store.is_sparse() && store.sizes().uniform(); }

  // `alone`: no other rank uses the slot words.
  KeyRun(Store& store, bool alone)
      : store_(store),
        words_(store.words_.dense()),
        head_bytes_(store.sizes().layout().head_bytes()),
        content_bytes_(store.sizes().layout().content_bytes()),
        alone_(alone) {}
  KeyRun(const KeyRun&) = delete;
  KeyRun& operator=(const KeyRun&) = delete;
  ~KeyRun() { store_.count_here(keys_, keys_ * static_cast<std::int64_t>(content_bytes_)); }

  // Bytes copied when a key moves: ValueSizes::moved_bytes.
  std::size_t moved_bytes() const { return head_bytes_ + content_bytes_; }
  SlotWord word(Key key) const { return SlotWord(words_[key.index()].load(std::memory_order_acquire)); }
  void prefetch_word(Key key) const { __builtin_prefetch(&words_[key.index()], 1); }
  // Prefetches the value if the key is local.
  void prefetch_value(Key key) const {
    const SlotWord word(words_[key.index()].load(std::memory_order_relaxed));
    if (!word.is_readable()) return;
    const std::byte* const content = store_.shared_address(word.low());
    const std::size_t bytes = std::min(kPrefetchBytes, content_bytes_);
    for (std::size_t line = 0; line < bytes; line += 64) __builtin_prefetch(content + line);
    __builtin_prefetch(content + bytes - 1);
  }

  // absent -> arriving, after try_prepare_arrivals. Requires an absent key.
  void begin_arrival(Key key, std::uint32_t arrival) {
    static_assert(next_role(Role::absent, RoleEvent::localize) == Role::arriving);
    leave_absent(key, Role::arriving, arrival);
  }

  // absent -> awaiting, after KeyCopies::try_prepare. Requires an absent key.
  void announce(Key key, std::uint32_t record) {
    static_assert(next_role(Role::absent, RoleEvent::announce) == Role::awaiting);
    leave_absent(key, Role::awaiting, record);
  }
  // awaiting -> arriving; the space reserved for the replica is now the value's. Requires an awaiting key.
  void localize_awaited(Key key, std::uint32_t arrival) {
    static_assert(next_role(Role::awaiting, RoleEvent::localize) == Role::arriving);
    static_assert(!others_write_word(Role::awaiting));
    Store::Word& word = words_[key.index()];
    const SlotWord before(word.load(std::memory_order_relaxed));
    word.store(before.with_role(Role::arriving, arrival).bits(), std::memory_order_release);
    store_.role_changed(key, Role::awaiting, Role::arriving);
  }
  // Gives an open main copy without replicas a record, in the head of its slot, and a new version. Returns
  // false, with no effect, for other keys, or if the slot is latched or cannot be marked.
  bool offer(Key key, std::uint32_t record) const {
    Store::Word& word = words_[key.index()];
    const SlotWord before(word.load(std::memory_order_relaxed));
    if (!before.is_open_owner() || !before.is_readable() || before.is_replicated() ||
        !store_.marks_.is_covered(before.low()))
      return false;
    std::uint64_t bits = before.bits();
    if (!word.compare_exchange_strong(bits, before.with_latch().bits(), std::memory_order_acquire,
                                      std::memory_order_relaxed))
      return false;
    std::byte* const content = store_.shared_address(before.low());
    SlotHead::of(content).record = record;
    SlotHead::raise_version(content);
    word.store(before.with_replicated(true).bits(), std::memory_order_release);
    return true;
  }
  // Prefetches the head of a local key's slot.
  void prefetch_head(Key key) const {
    const SlotWord word(words_[key.index()].load(std::memory_order_relaxed));
    if (word.is_readable()) __builtin_prefetch(store_.shared_address(word.low()) - head_bytes_, 1);
  }

  // arriving -> owner, open, with the content that transfer wrote and no replicas. Requires an arriving key,
  // after try_prepare_arrivals.
  void arrive(Key key, const std::byte* moved) {
    static_assert(next_role(Role::arriving, RoleEvent::arrive) == Role::owner);
    static_assert(!others_write_word(Role::arriving));
    const Slot slot{store_.slots_.take_promised(), false};
    std::byte* const content = store_.shared_address(slot.number);
    std::memcpy(content - head_bytes_, moved, moved_bytes());
    if (head_bytes_ != 0) SlotHead::of(content).record = SlotHead::kNoRecord;
    Store::Word& word = words_[key.index()];
    const SlotWord before(word.load(std::memory_order_relaxed));
    word.store(before.owner(slot).bits(), std::memory_order_release);
    store_.role_changed(key, Role::arriving, Role::owner);
    ++keys_;
  }

  // owner, open -> absent: like Store::transfer_ownership. Returns false, with no effect, if the key is not
  // local, leased, latched or in private memory, or has replicas, unless the record in the head of its slot
  // is `allowed`.
  bool transfer(Key key, std::byte* to, Domain next, std::uint32_t allowed = SlotHead::kNoRecord) {
    static_assert(next_role(Role::owner, RoleEvent::instruct) == Role::absent);
    Store::Word& word = words_[key.index()];
    const SlotWord before(word.load(std::memory_order_relaxed));
    if (!before.is_open_owner() || !before.is_readable()) [[unlikely]]
      return false;
    std::byte* const content = store_.shared_address(before.low());
    if (before.is_replicated() && SlotHead::of(content).record != allowed) return false;
    // From here on no thread begins to use the value, and none was writing: the latch was free.
    std::uint64_t bits = before.bits();
    if (!word.compare_exchange_strong(bits, before.absent(next).bits(), std::memory_order_acq_rel,
                                      std::memory_order_relaxed)) [[unlikely]]
      return false;
    // Later writes to the freed slot must not become visible before the change of the word.
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(to, content - head_bytes_, moved_bytes());
    if (before.is_replicated()) {
      // A released slot has no record and no mark.
      SlotHead::of(content).record = SlotHead::kNoRecord;
      if (store_.marks_.test(before.low())) store_.marks_.take(before.low(), 1, [](std::uint64_t) {});
    }
    store_.slots_.release(before.low());
    store_.role_changed(key, Role::owner, Role::absent);
    --keys_;
    return true;
  }

 private:
  static constexpr std::size_t kPrefetchBytes = 512;

  void leave_absent(Key key, Role role, std::uint32_t low) {
    Store::Word& word = words_[key.index()];
    std::uint64_t bits = word.load(std::memory_order_relaxed);
    if (alone_) {
      // Hints then change only under the progress lock.
      word.store(SlotWord(bits).with_role(role, low).bits(), std::memory_order_release);
    } else {
      // Another rank may change the hint meanwhile.
      while (!word.compare_exchange_weak(bits, SlotWord(bits).with_role(role, low).bits(),
                                         std::memory_order_acq_rel, std::memory_order_relaxed)) {
      }
    }
    store_.role_changed(key, Role::absent, role);
  }

  Store& store_;
  Store::Word* words_;
  std::size_t head_bytes_;
  std::size_t content_bytes_;
  bool alone_;
  std::int64_t keys_ = 0;  // that became local, minus those that became absent
};

}  // namespace lapse
