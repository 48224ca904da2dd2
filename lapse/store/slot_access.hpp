// Reads and changes values in memory if their keys' slot words allow it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "lapse/core/export.hpp"
#include "lapse/core/types.hpp"
#include "lapse/store/words/racy_copy.hpp"
#include "lapse/store/words/slot_bits.hpp"

namespace lapse {

class DirtySet;
class LatchWatch;
class SlabAllocator;
class SparseLookup;

// Result of an access; false if the key is not local or is leased.
class Found {
 public:
  constexpr Found() = default;
  constexpr explicit Found(SlotBits word) : word_(word) {}
  constexpr explicit operator bool() const { return word_.bits() != 0; }
  // The access was to a replica, not to the main copy.
  constexpr bool is_copy() const { return word_.is_copy(); }

 private:
  SlotBits word_;
};

// The part of a Store that is inlined into a worker's access to one key: finding its slot word and slot, the
// optimistic read and the latch.
//
// Thread safety: any thread of any rank that maps this memory.
//
// Invariants:
// 1. A slot changes only under the key's latch, by the holder of the key's lease, or while no slot word names
//    it.
// 2. A read returns a value that the key had at one moment during the call.
// 3. A change of a value whose slot word says *replicated* is marked, and raises a main copy's version,
//    before the latch is released.
class LAPSE_EXPORT SlotAccess {
 public:
  using Word = std::atomic<std::uint64_t>;

  // The key's slot word, whose address is stable; null for a key of a sparse table that has none.
  Word* find(Key key) const {
    if (dense_ != nullptr) [[likely]]
      return &dense_[key.index()];
    return find_sparse(key);
  }

  // Copies the value, `bytes` long, to `to`, from the main copy or a replica. Returns false if the key is not
  // local or is leased.
  Found read(Key key, std::byte* to, std::size_t bytes) const {
    const Word* word = find(key);
    return word != nullptr ? read_at(*word, to, bytes) : Found();
  }
  // Calls f(slot) in place with the latch held. Returns false, without a call, if the key is not local or is
  // leased, or if only a replica is local and the table's update rule cannot change replicas in place. If f
  // throws, the latch is released and what f wrote stays.
  template <class F>
  Found update(Key key, F&& f) {
    Word* word = find(key);
    return word != nullptr ? update_at(*word, std::forward<F>(f)) : Found();
  }

  // Whether the key is local and not leased: the condition of read, without copying.
  bool is_open(const Word& word) const {
    return is_open(SlotBits(word.load(std::memory_order_acquire)), SlotBits::kOpenValue);
  }
  // This domain has the key's value in private memory of another rank, the rank that serves the key.
  bool is_out_of_reach(const Word& word) const {
    const SlotBits bits(word.load(std::memory_order_acquire));
    return bits.is_owner() && bits.is_private() && !is_own_private(bits.low());
  }

  // Like read, for the key of this slot word.
  Found read_at(const Word& word, std::byte* to, std::size_t bytes) const {
#if !defined(__SANITIZE_THREAD__)
    for (int attempt = 0; attempt < kOptimisticAttempts; ++attempt) {
      const SlotBits before(word.load(std::memory_order_acquire));
      const std::byte* slot = shared_address(before.low());
      if (!before.is_readable()) [[unlikely]] {
        if (!is_open(before, SlotBits::kOpenValue)) return {};
        if (before.latched()) continue;
        slot = address_of(before);
      }
      racy_copy(to, slot, bytes);
      std::atomic_thread_fence(std::memory_order_acquire);
      if (word.load(std::memory_order_relaxed) == before.bits()) [[likely]]
        return Found(before);
    }
#endif
    return read_latched(const_cast<Word&>(word), SlotBits::kOpenValue, to, bytes);
  }
  template <class F>
  Found update_at(Word& word, F&& f) {
    return update_if(word, in_place_, std::forward<F>(f));
  }

  // Call before the first access. `watch` learns of long waits for a latch and must outlive the accesses.
  void set_latch_watch(LatchWatch* watch) {
    latch_watch_ = watch;
  }

 protected:
  // One of `dense` (by key) and `sparse` is null. Slots exist only after set_slots.
  SlotAccess(Word* dense, const SparseLookup* sparse) : dense_(dense), sparse_(sparse) {}
  ~SlotAccess() = default;

  // `zero`: address of slot 0. `unit_bytes`: distance to slot 1. `head_bytes`: bytes before the value.
  void set_slots(const std::byte* zero, std::size_t unit_bytes, std::size_t head_bytes) {
    slots_begin_ = reinterpret_cast<std::uintptr_t>(zero) + head_bytes;
    unit_bytes_ = unit_bytes;
    head_bytes_ = head_bytes;
  }
  // The table may have replicas, which workers change in place if `in_place`. Marks go to `dirty`, which must
  // outlive the object.
  void set_copies(const DirtySet& dirty, bool in_place) {
    dirty_ = &dirty;
    if (in_place) in_place_ = SlotBits::kOpenValue;
  }
  // From now on this rank has slots that it alone can address. `dirty`, their marks, must outlive the object.
  void set_private_slots(const SlabAllocator* slots, const DirtySet& dirty) {
    private_dirty_ = &dirty;
    private_slots_.store(slots, std::memory_order_release);
  }

  // Slot words that a worker may change in place.
  const SlotBits::Test& in_place() const {
    return in_place_;
  }
  // Address of a slot's value, which the update rule's state follows.
  std::byte* shared_address(std::uint32_t slot) const {
    return reinterpret_cast<std::byte*>(slots_begin_ + std::size_t{slot} * unit_bytes_);
  }
  // Like shared_address, for a slot that this rank alone can address.
  std::byte* private_address(std::uint32_t slot) const;
  std::byte* address_of(SlotBits word) const {
    return word.is_private() ? private_address(word.low()) : shared_address(word.low());
  }
  // Whether the slot word passes the test and this rank can address the slot.
  bool is_open(SlotBits word, const SlotBits::Test& test) const {
    return word.passes(test) && (!word.is_private() || is_own_private(word.low()));
  }
  // The key of a slot word returned by find().
  Key key_of(const Word& word) const;
  // Takes the latch of a slot word that passes the test and returns the current, latched slot word. If it
  // does not pass, returns it without the latch. (Not an optional: a value in a register makes a push a
  // quarter faster.)
  SlotBits latch_open(Word& word, const SlotBits::Test& test) const {
    std::uint64_t bits = word.load(std::memory_order_relaxed);
    const SlotBits seen(bits);
    if (!is_open(seen, test)) [[unlikely]]
      return SlotBits();
    const SlotBits latched = seen.with_latch();
    if (!seen.latched() && word.compare_exchange_weak(bits, latched.bits(), std::memory_order_acquire,
                                                      std::memory_order_relaxed)) [[likely]] {
      std::atomic_thread_fence(std::memory_order_release);
      return latched;
    }
    return latch_contended(word, test);
  }
  // Like update_at, if the slot word passes the test.
  template <class F>
  Found update_if(Word& word, const SlotBits::Test& test, F&& f) {
    const SlotBits latched = latch_open(word, test);
    if (!latched.latched()) [[unlikely]]
      return {};
    change(word, latched, std::forward<F>(f));
    return Found(latched);
  }

  // Calls f(slot) for the holder of the latch, then releases it. (Not an RAII object: it would keep its
  // members in memory, and a push would take an eighth longer.)
  template <class F>
  void change(Word& word, SlotBits latched, F&& f) {
    try {
      std::forward<F>(f)(address_of(latched));
    } catch (...) {
      release(word, latched);
      throw;
    }
    release(word, latched);
  }

  void release(Word& word, SlotBits latched) {
    if (latched.is_replicated()) [[unlikely]]
      note_change(latched);
    word.store(latched.after_write().bits(), std::memory_order_release);
  }
  // A value whose slot word says *replicated* has changed. Requires the latch or the lease.
  void note_change(SlotBits word);
  Found read_latched(Word& word, SlotBits::Test test, std::byte* to, std::size_t bytes) const;

 private:
  static constexpr int kOptimisticAttempts = 8;

  Word* find_sparse(Key key) const;
  // Like latch_open, for a slot word that another thread has latched or changed meanwhile. Sleeps during long
  // waits.
  SlotBits latch_contended(Word& word, SlotBits::Test test) const;
  bool is_own_private(std::uint32_t slot) const;

  // constant
  Word* dense_;
  const SparseLookup* sparse_;
  std::uintptr_t slots_begin_ = 0;
  std::size_t unit_bytes_ = 0;
  std::size_t head_bytes_ = 0;
  SlotBits::Test in_place_ = SlotBits::kOpenOwner;
  const DirtySet* dirty_ = nullptr;
  const DirtySet* private_dirty_ = nullptr;  // by units counted from the first; set before the slots are
  LatchWatch* latch_watch_ = nullptr;
  // self-synchronised: set once
  std::atomic<const SlabAllocator*> private_slots_ = nullptr;
};

}  // namespace lapse
