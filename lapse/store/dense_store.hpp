// The part of a dense table that one domain holds: a word for every key, a slot for every key that is here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "lapse/core/types.hpp"
#include "lapse/store/racy_copy.hpp"
#include "lapse/store/region.hpp"
#include "lapse/store/slab.hpp"
#include "lapse/store/slot_word.hpp"
#include "lapse/store/value_layout.hpp"

namespace lapse {

// Knows keys, words and slots; neither owners nor messages.
//
// Thread safety: read and update by any thread of the domain; everything under "roles" by the holder of the
// serving rank's progress lock.
//
// Invariants:
// 1. The value of a key changes only under its latch, or while no word names its slot.
// 2. A word names a slot only while the role is owner; a slot is released after its word has changed.
// 3. A read returns a value that the key had at one moment during the call.
class DenseStore {
 public:
  // Reserves and commits the words; slots for `expected_slots` keys are committed at once. Throws
  // OutOfMemory.
  DenseStore(RegionAllocator& regions, std::uint64_t keys, const ValueLayout& layout,
             std::uint64_t expected_slots);

  std::uint64_t keys() const { return keys_; }
  const ValueLayout& layout() const { return layout_; }
  std::size_t value_bytes() const { return value_bytes_; }

  // --- access ---

  // Copies the value to `to`; false when the key is not here or leased.
  bool read(Key key, std::byte* to) const {
#if !defined(__SANITIZE_THREAD__)
    const std::atomic<std::uint64_t>& word = words_[key.index()];
    for (int attempt = 0; attempt < kOptimisticAttempts; ++attempt) {
      const SlotWord before(word.load(std::memory_order_acquire));
      if (!before.is_readable()) [[unlikely]] {
        if (!before.is_open_owner()) return false;
        continue;
      }
      racy_copy(to, slots_.address(before.low()), value_bytes_);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (word.load(std::memory_order_relaxed) == before.bits()) [[likely]]
        return true;
    }
#endif
    return read_latched(key, to);
  }

  // Calls f(value) with the latch held, in place; false (and no call) when the key is not here or leased.
  // When f throws, the latch is released and what f wrote stays.
  template <class F>
  bool update(Key key, F&& f) {
    const std::optional<SlotWord> word = latch_open_owner(key);
    if (!word) return false;
    const Unlatch unlatch{words_[key.index()], *word};
    std::forward<F>(f)(slots_.address(word->low()));
    return true;
  }

  void prefetch_word(Key key) const {
    __builtin_prefetch(&words_[key.index()]);
  }
  // Brings the value's first lines near, if the key is here.
  void prefetch_value(Key key) const {
    const SlotWord word(words_[key.index()].load(std::memory_order_relaxed));
    if (!word.is_open_owner()) return;
    const std::byte* value = slots_.address(word.low());
    for (std::size_t at = 0; at < value_bytes_ && at < kPrefetchBytes; at += 64)
      __builtin_prefetch(value + at);
  }

  // --- roles ---

  SlotWord word(Key key) const {
    return SlotWord(words_[key.index()].load(std::memory_order_acquire));
  }

  // The domain owns the key from the start; returns where to write its first value, before anybody may look.
  std::byte* create(Key key);
  // absent -> arriving; `arrival` is kept in the word.
  void begin_arrival(Key key, std::uint32_t arrival);
  // A slot for a value that has come, not yet visible to anybody.
  std::uint32_t allocate_slot() {
    return slots_.allocate();
  }
  std::byte* slot(std::uint32_t slot) {
    return slots_.address(slot);
  }
  void release_slot(std::uint32_t slot) {
    slots_.release(slot);
  }
  // arriving -> owner of the value in `slot`.
  void publish_owner(Key key, std::uint32_t slot);
  // arriving -> absent: the value came and went on to `next`.
  void pass_on(Key key, Domain next);
  // owner -> absent: copies the value to `to` and forgets it. The new owner is kept as location hint.
  void hand_over(Key key, std::byte* to, Domain next);
  // Changes the location hint of an absent key; nothing when the key is in another role.
  void set_hint(Key key, Domain hint);

  // Bytes beside the values: words, and slabs less the values that lie in them.
  std::size_t word_bytes() const {
    return words_region_->capacity_bytes();
  }
  std::size_t slab_bytes() const {
    return slots_.committed_bytes();
  }
  std::uint64_t keys_here() const {
    return slots_.slots_in_use();
  }

 private:
  static constexpr int kOptimisticAttempts = 8;
  static constexpr int kLatchSpins = 100;
  static constexpr std::size_t kPrefetchBytes = 512;

  struct Unlatch {
    std::atomic<std::uint64_t>& word;
    SlotWord latched;
    ~Unlatch() { word.store(latched.after_write().bits(), std::memory_order_release); }
  };

  // Takes the latch and returns the word as it is now (latched); nothing when the key is not here or leased.
  std::optional<SlotWord> latch_open_owner(Key key) const {
    std::atomic<std::uint64_t>& word = words_[key.index()];
    std::uint64_t bits = word.load(std::memory_order_relaxed);
    for (int spins = 0;;) {
      const SlotWord seen(bits);
      if (!seen.is_open_owner()) return std::nullopt;
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

  bool read_latched(Key key, std::byte* to) const;
  void change_role(Key key, Role expected, SlotWord next);

  // constant
  std::uint64_t keys_;
  ValueLayout layout_;
  std::size_t value_bytes_;
  std::unique_ptr<Region> words_region_;
  std::atomic<std::uint64_t>* words_;
  // own rules
  SlabAllocator slots_;
};

}  // namespace lapse
