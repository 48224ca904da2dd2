#include "lapse/store/slot_access.hpp"

#include <cstring>

#include "lapse/store/dirty_set.hpp"
#include "lapse/store/memory/slab.hpp"
#include "lapse/store/slot_head.hpp"
#include "lapse/store/words/latch_wait.hpp"
#include "lapse/store/words/sparse_lookup.hpp"

namespace lapse {

SlotAccess::Word* SlotAccess::find_sparse(Key key) const {
  return sparse_->find(key);
}

Found SlotAccess::read_latched(Word& word, SlotBits::Test test, std::byte* to, std::size_t bytes) const {
  const SlotBits latched = latch_open(word, test);
  if (!latched.latched()) return {};
  std::memcpy(to, address_of(latched), bytes);
  // Nothing was written: reads in flight stay valid, so the sequence stays.
  word.store(latched.bits() & ~SlotBits::kLatchBit, std::memory_order_release);
  return Found(latched);
}

void SlotAccess::note_change(SlotBits word) {
  if (word.is_owner()) SlotHead::raise_version(address_of(word));
  if (word.is_private()) {
    private_dirty_->mark(word.low() - private_slots_.load(std::memory_order_acquire)->first_unit());
  } else {
    dirty_->mark(word.low());
  }
}

Key SlotAccess::key_of(const Word& word) const {
  return dense_ != nullptr ? Key(static_cast<std::uint64_t>(&word - dense_)) : SparseLookup::key_of(word);
}

SlotBits SlotAccess::latch_contended(Word& word, SlotBits::Test test) const {
  constexpr int kSpins = 100;
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  LatchWait wait;
  for (int spins = 0;;) {
    const SlotBits seen(bits);
    if (!is_open(seen, test)) return SlotBits();
    if (!seen.latched()) {
      if (word.compare_exchange_weak(bits, seen.with_latch().bits(), std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
        std::atomic_thread_fence(std::memory_order_release);
        return seen.with_latch();
      }
      continue;
    }
    if (++spins > kSpins) {
      if (wait.pause(latch_watch_)) latch_watch_->report(key_of(word), wait.waited());
      spins = 0;
    }
    bits = word.load(std::memory_order_relaxed);
  }
}

bool SlotAccess::is_own_private(std::uint32_t slot) const {
  const SlabAllocator* slots = private_slots_.load(std::memory_order_acquire);
  return slots != nullptr && slots->is_own(slot);
}

std::byte* SlotAccess::private_address(std::uint32_t slot) const {
  return private_slots_.load(std::memory_order_acquire)->address(slot) + head_bytes_;
}

}  // namespace lapse
