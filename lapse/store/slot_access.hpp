// Reads and changes values in memory, where the slot words of their keys allow it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lapse/core/types.hpp"
#include "lapse/store/racy_copy.hpp"
#include "lapse/store/slot_bits.hpp"

namespace lapse {

class LatchWatch;
class SlabAllocator;
class SparseLookup;

// The part of a Store that is inlined into a worker's access to one key: the search of its slot word and
// slot, the optimistic read and the latch.
//
// Thread safety: any thread of any rank that maps this memory.
//
// Invariants:
// 1. A slot changes only under the key's latch, by the holder of the key's lease, or while no slot word names
// it.
// 2. A read returns a value that the key had at one moment during the call.
class SlotAccess {
 public:
  using Word = std::atomic<std::uint64_t>;

  // The key's slot word, which keeps its address; null for a key of a sparse table that has none.
  Word* find(Key key) const {
    if (dense_ != nullptr) [[likely]]
      return &dense_[key.index()];
    return find_sparse(key);
  }

  // Copies the value, `bytes` long, to `to`; false when the key is not local or leased.
  bool read(Key key, std::byte* to, std::size_t bytes) const {
    const Word* word = find(key);
    return word != nullptr && read_at(*word, to, bytes);
  }
  // Calls f(slot) with the latch held, in place; false (and no call) when the key is not local or leased.
  // When f throws, the latch is released and what f wrote stays.
  template <class F>
  bool update(Key key, F&& f) {
    Word* word = find(key);
    return word != nullptr && update_at(*word, std::forward<F>(f));
  }

  // The key is local and not leased: what read asks, without a copy.
  bool is_open(const Word& word) const { return is_open(SlotBits(word.load(std::memory_order_acquire))); }
  // This domain owns the key's value, in private memory of another rank: the rank that serves the key.
  bool is_out_of_reach(const Word& word) const {
    const SlotBits bits(word.load(std::memory_order_acquire));
    return bits.is_owner() && bits.is_private() && !is_own_private(bits.low());
  }

  // As read, for the key of this slot word.
  bool read_at(const Word& word, std::byte* to, std::size_t bytes) const {
#if !defined(__SANITIZE_THREAD__)
    for (int attempt = 0; attempt < kOptimisticAttempts; ++attempt) {
      const SlotBits before(word.load(std::memory_order_acquire));
      const std::byte* slot = shared_address(before.low());
      if (!before.is_readable()) [[unlikely]] {
        if (!is_open(before)) return false;
        if (before.latched()) continue;
        slot = address_of(before);
      }
      racy_copy(to, slot, bytes);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (word.load(std::memory_order_relaxed) == before.bits()) [[likely]]
        return true;
    }
#endif
    return read_latched(const_cast<Word&>(word), to, bytes);
  }
  template <class F>
  bool update_at(Word& word, F&& f) {
    const SlotBits latched = latch_open_owner(word);
    if (!latched.latched()) [[unlikely]]
      return false;
    const Unlatch unlatch{word, latched};
    std::forward<F>(f)(address_of(latched));
    return true;
  }

  // Before the first access: what learns of long waits for a latch. It outlives the accesses.
  void set_latch_watch(LatchWatch* watch) {
    latch_watch_ = watch;
  }

 protected:
  // One of `dense` (by key) and `sparse` is null. Slots are there once set_slots was called.
  SlotAccess(Word* dense, const SparseLookup* sparse) : dense_(dense), sparse_(sparse) {}
  ~SlotAccess() = default;

  // `zero`: where slot 0 would be stored. `unit_bytes`: from there to slot 1.
  void set_slots(const std::byte* zero, std::size_t unit_bytes) {
    slots_begin_ = reinterpret_cast<std::uintptr_t>(zero);
    unit_bytes_ = unit_bytes;
  }
  // Slots that this rank alone can address, from now on.
  void set_private_slots(const SlabAllocator* slots) {
    private_slots_.store(slots, std::memory_order_release);
  }

  std::byte* shared_address(std::uint32_t slot) const {
    return reinterpret_cast<std::byte*>(slots_begin_ + std::size_t{slot} * unit_bytes_);
  }
  // The address of a slot that this rank alone can address.
  std::byte* private_address(std::uint32_t slot) const;
  std::byte* address_of(SlotBits word) const {
    return word.is_private() ? private_address(word.low()) : shared_address(word.low());
  }
  // Owner, not leased, and this rank can address the slot.
  bool is_open(SlotBits word) const {
    return word.is_open_owner() && (!word.is_private() || is_own_private(word.low()));
  }
  // The key of a slot word that find() has returned.
  Key key_of(const Word& word) const;
  // Takes the latch and returns the slot word as it is now, latched; without the latch when the key is not
  // local or leased. (Not an optional: a value in a register makes a push a quarter faster.)
  SlotBits latch_open_owner(Word& word) const {
    std::uint64_t bits = word.load(std::memory_order_relaxed);
    const SlotBits seen(bits);
    if (!is_open(seen)) [[unlikely]]
      return SlotBits();
    const SlotBits latched = seen.with_latch();
    if (!seen.latched() && word.compare_exchange_weak(bits, latched.bits(), std::memory_order_acquire,
                                                      std::memory_order_relaxed)) [[likely]] {
      std::atomic_thread_fence(std::memory_order_release);
      return latched;
    }
    return latch_contended(word);
  }

  struct Unlatch {
    Word& word;
    SlotBits latched;
    ~Unlatch() { word.store(latched.after_write().bits(), std::memory_order_release); }
  };

 private:
  static constexpr int kOptimisticAttempts = 8;

  Word* find_sparse(Key key) const;
  bool read_latched(Word& word, std::byte* to, std::size_t bytes) const;
  // As latch_open_owner, for a slot word that another thread has latched or changed meanwhile. A thread that
  // waits for long sleeps.
  SlotBits latch_contended(Word& word) const;
  bool is_own_private(std::uint32_t slot) const;

  // constant
  Word* dense_;
  const SparseLookup* sparse_;
  std::uintptr_t slots_begin_ = 0;
  std::size_t unit_bytes_ = 0;
  LatchWatch* latch_watch_ = nullptr;
  // self-synchronised: set once
  std::atomic<const SlabAllocator*> private_slots_ = nullptr;
};

}  // namespace lapse
