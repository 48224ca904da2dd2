#include "lapse/store/key_copies.hpp"

#include <new>

#include "lapse/core/error.hpp"
#include "lapse/store/slot_head.hpp"

namespace lapse {

bool KeyCopies::try_prepare(Key key, std::optional<std::uint32_t>& slot) {
  const bool uniform = store_.sizes_.uniform();
  slot.reset();
  if (uniform) {
    if (!store_.slots_.try_promise()) return false;
  } else {
    slot = store_.slots_.try_allocate(store_.sizes_.units(key));
    if (!slot) return false;
    SlotHead::clear(store_.shared_address(*slot));
  }
  if (store_.try_cover_slots() && store_.words_.find_or_try_insert(key) != nullptr) return true;
  if (uniform) {
    cancel();
  } else {
    release(key, {*slot, false});
  }
  return false;
}

bool KeyCopies::make_markable(Slot slot) {
  try {
    return marks_of(slot).cover(unit_of(slot));
  } catch (const OutOfMemory&) {
    return false;
  }
}

std::uint32_t KeyCopies::take_slot() {
  const std::uint32_t slot = store_.slots_.take_promised();
  SlotHead::clear(store_.shared_address(slot));
  return slot;
}

void KeyCopies::publish(Key key, RoleEvent event, Role role, std::uint32_t low) {
  store_.publish(key, store_.words_.find_or_insert(key), event,
                 [&](SlotWord word) { return word.with_role(role, low); });
}

void KeyCopies::show(Key key, Slot slot, RoleEvent event) {
  store_.publish(key, store_.words_.find_or_insert(key), event,
                 [&](SlotWord word) { return word.replica(slot); });
}

void KeyCopies::unreplicate(Key key) {
  Store::Word& word = *store_.words_.find(key);
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  for (;;) {
    const SlotWord now(bits);
    // An arriving key gets the bit once it has arrived.
    if (!now.is_owner()) return;
    if (now.latched()) {
      const SlotBits latched = store_.latch_open(word, SlotBits::kOpenOwner);
      if (latched.latched()) word.store(latched.bits() & ~SlotBits::kLatchBit, std::memory_order_release);
      bits = word.load(std::memory_order_relaxed);
      continue;
    }
    if (word.compare_exchange_weak(bits, now.with_replicated(false).bits(), std::memory_order_acq_rel,
                                   std::memory_order_relaxed))
      return;
  }
}

}  // namespace lapse
