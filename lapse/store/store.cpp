#include "lapse/store/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "lapse/core/error.hpp"
#include "lapse/store/memory/available_memory.hpp"

namespace lapse {

Store::Store(RegionAllocator& regions, KeyWords words, ValueSizes sizes, std::uint64_t max_units,
             std::uint64_t expected_units)
    : SlotAccess(words.dense(), words.sparse()),
      sizes_(std::move(sizes)),
      words_(std::move(words)),
      slots_(regions, sizes_.unit_bytes(), max_units) {
  set_slots(slots_.address(0), slots_.unit_bytes(), sizes_.layout().head_bytes());
  slots_.commit_for(expected_units);
  if (may_have_copies()) use_marks(SlotMarks(regions, slots_.max_units()));
}

Store::Store(KeyWords words, SlabSpace space, Overflow overflow, ValueSizes sizes,
             std::uint64_t expected_units, const DirtySet& marks)
    : SlotAccess(words.dense(), words.sparse()),
      sizes_(std::move(sizes)),
      words_(std::move(words)),
      slots_(std::move(space), sizes_.unit_bytes(), overflow.owner_label),
      overflow_(std::move(overflow)) {
  set_slots(slots_.address(0), slots_.unit_bytes(), sizes_.layout().head_bytes());
  slots_.try_commit_for(expected_units);
  if (may_have_copies()) use_marks(SlotMarks(marks));
}

void Store::use_marks(SlotMarks marks) {
  marks_ = std::move(marks);
  set_copies(marks_.all(), sizes_.layout().copies == Copies::differences);
}

std::size_t Store::own_slot_bytes() const {
  const std::uint64_t units = slots_.units_in_use() + (private_slots_ ? private_slots_->units_in_use() : 0);
  return units * sizes_.unit_bytes();
}

SlotBits Store::try_latch(Word& word, SlotBits::Test test, Attempt& attempt) const {
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  const SlotBits seen(bits);
  attempt = Attempt::not_local;
  if (!is_open(seen, test)) return {};
  attempt = Attempt::latched;
  if (seen.latched() || !word.compare_exchange_strong(bits, seen.with_latch().bits(),
                                                      std::memory_order_acquire, std::memory_order_relaxed)) {
    return {};
  }
  std::atomic_thread_fence(std::memory_order_release);
  attempt = seen.is_copy() ? Attempt::done_on_copy : Attempt::done;
  return seen.with_latch();
}

Store::Attempt Store::try_read_latched(Word& word, std::byte* to, std::size_t bytes) const {
  Attempt attempt = Attempt::done;
  if (const SlotBits latched = try_latch(word, SlotBits::kOpenValue, attempt); latched.latched()) {
    std::memcpy(to, address_of(latched), bytes);
    // Nothing was written: the sequence stays.
    word.store(latched.bits() & ~SlotBits::kLatchBit, std::memory_order_release);
  }
  return attempt;
}

std::uint64_t Store::copy_version(const Word& word) const {
  for (;;) {
    const SlotBits before(word.load(std::memory_order_acquire));
    if (!before.is_copy()) return 0;
    const std::uint64_t version = SlotHead::version_of(shared_address(before.low()));
    std::atomic_thread_fence(std::memory_order_acquire);
    // The slot may have been released and reused for another key.
    if (SlotBits(word.load(std::memory_order_relaxed)).low() == before.low()) return version;
  }
}

// --- roles ---

Slot Store::allocate_slot(Key key) {
  const std::uint32_t units = sizes_.units(key);
  Slot slot;
  if (!overflow_) {
    slot = {slots_.allocate(units), false};
  } else if (const auto shared = slots_.try_allocate(units)) {
    slot = {*shared, false};
  } else {
    slot = {private_slots().allocate(units), true};
  }
  if (may_have_copies()) SlotHead::clear(address(slot));
  return slot;
}

Slot Store::prepare_arrival(Key key) {
  Slot prepared;
  if (!sizes_.uniform()) {
    prepared = allocate_slot(key);
  } else if (const std::uint32_t units = sizes_.units(key); !overflow_) {
    slots_.promise(units);
  } else if (!slots_.try_promise(units)) {
    private_slots().promise(units);
    prepared.is_private = true;
  }
  try {
    if (!cover_slots(prepared.is_private)) {
      throw OutOfMemory(
          fmt::format("no memory for the mark of key {}; {}", key.value(), available_memory().to_text()));
    }
    words_.find_or_insert(key);
  } catch (...) {
    cancel_arrival(key, prepared);
    throw;
  }
  return prepared;
}

bool Store::cover_slots(bool is_private) {
  if (!may_have_copies()) return true;
  const SlabAllocator& slots = is_private ? *private_slots_ : slots_;
  const std::uint64_t units =
      std::min<std::uint64_t>(slots.max_units(), slots.committed_bytes() / slots.unit_bytes());
  // Private marks are counted from the first private unit.
  const std::uint64_t end = units + (is_private ? 0 : slots.first_unit());
  return end == 0 || (is_private ? private_marks_ : marks_).cover(end - 1);
}

bool Store::try_cover_slots() {
  try {
    return cover_slots(false);
  } catch (const OutOfMemory&) {
    return false;
  }
}

SlabAllocator& Store::private_slots() {
  if (private_slots_) return *private_slots_;
  overflow_->notice();
  const auto& [regions, first_unit, max_units, notice, owner_label] = *overflow_;
  std::unique_ptr<Region> region = regions.reserve(max_units * sizes_.unit_bytes());
  if (!region) {
    throw OutOfMemory(
        fmt::format("{}: no address space for private slots; {}", owner_label, available_memory().to_text()));
  }
  private_slots_ = std::make_unique<SlabAllocator>(
      SlabSpace{std::move(region), first_unit, first_unit, max_units}, sizes_.unit_bytes(), owner_label);
  if (may_have_copies()) private_marks_ = SlotMarks(regions, max_units);
  set_private_slots(private_slots_.get(), private_marks_.all());
  return *private_slots_;
}

void Store::throw_illegal_event(Key key, Role role, RoleEvent event) {
  throw ProtocolError(fmt::format("key {} is {}: event {} cannot happen to it", key.value(), role_name(role),
                                  static_cast<int>(event)));
}

void Store::begin_arrival(Key key, std::uint32_t arrival) {
  publish(key, words_.find_or_insert(key), RoleEvent::localize,
          [&](SlotWord word) { return word.with_role(Role::arriving, arrival); });
}

void Store::publish_owner(Key key, Slot slot, LeaseState lease, bool replicated) {
  publish(key, words_.find_or_insert(key), RoleEvent::arrive,
          [&](SlotWord word) { return word.owner(slot, replicated).with_lease(lease); });
}

void Store::pass_on(Key key, Domain next) {
  publish(key, words_.find_or_insert(key), RoleEvent::pass_on,
          [&](SlotWord word) { return word.absent(next); });
}

void Store::refuse(Key key) {
  publish(key, words_.find_or_insert(key), RoleEvent::refuse, [](SlotWord word) { return word.absent(); });
}

void Store::forget(Key key, Slot slot) {
  release_slot(key, slot);
  count_here(key, false);
}

bool Store::transfer_ownership(Key key, std::byte* to, Domain next) {
  static_assert(next_role(Role::owner, RoleEvent::instruct) == Role::absent);
  Word* word = words_.find(key);
  const std::size_t bytes = sizes_.content_bytes(key);
  const std::optional<SlotWord> latched = word == nullptr ? std::nullopt : latch_open_owner(*word);
  if (!latched) {
    // The key is leased, or was when the latch was tried; its lease may have ended since.
    if (word != nullptr && has_main_copy(SlotWord(word->load(std::memory_order_relaxed)).role()))
      return false;
    throw ProtocolError(fmt::format(
        "ownership of key {} is to be transferred by a domain that does not own it", key.value()));
  }
  std::memcpy(to, address(latched->slot()), bytes);
  word->store(latched->absent(next).bits(), std::memory_order_release);
  forget(key, latched->slot());
  role_changed(key, Role::owner, Role::absent);
  return true;
}

void Store::transfer_leased_ownership(Key key, std::byte* to, Domain next) {
  Word& word = leased_word(key);
  const SlotWord now(word.load(std::memory_order_acquire));
  std::memcpy(to, address(now.slot()), sizes_.content_bytes(key));
  word.store(now.absent(next).bits(), std::memory_order_release);
  forget(key, now.slot());
  role_changed(key, Role::owner, Role::absent);
}

void Store::set_hint(Key key, Domain hint) {
  Word* word = words_.find_or_try_insert(key);
  if (word == nullptr) return;
  std::uint64_t bits = word->load(std::memory_order_relaxed);
  if (low_half(SlotWord(bits).role()) != LowHalf::hint || SlotWord(bits).hint() == hint) return;
  word->compare_exchange_strong(bits, SlotWord(bits).with_hint(hint).bits(), std::memory_order_relaxed);
}

// --- leases ---

Store::Word& Store::leased_word(Key key) const {
  Word* word = words_.find(key);
  if (word == nullptr || !SlotWord(word->load(std::memory_order_relaxed)).leased()) {
    throw ProtocolError(fmt::format("key {} is not leased", key.value()));
  }
  return *word;
}

bool Store::grant_lease(Key key) {
  Word* word = words_.find(key);
  const std::optional<SlotWord> latched = word == nullptr ? std::nullopt : latch_open_owner(*word);
  if (!latched) return false;
  word->store(latched->with_lease(LeaseState::held).bits(), std::memory_order_release);
  return true;
}

bool Store::mark_queued(Key key) {
  Word* word = words_.find(key);
  if (word == nullptr) return false;
  std::uint64_t bits = word->load(std::memory_order_relaxed);
  for (;;) {
    if (!SlotWord(bits).leased()) return false;
    if (word->compare_exchange_weak(bits, bits | SlotWord::kQueuedBit, std::memory_order_acq_rel,
                                    std::memory_order_relaxed))
      return true;
  }
}

bool Store::release_lease(Key key) {
  Word& word = leased_word(key);
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  if (SlotWord(bits).queued()) return false;
  // The holder may have changed the value. If the lease continues, the note was merely early.
  if (SlotWord(bits).is_replicated()) note_change(SlotWord(bits));
  do {
    if (SlotWord(bits).queued()) return false;
  } while (!word.compare_exchange_weak(bits, SlotWord(bits).with_lease(LeaseState::none).bits(),
                                       std::memory_order_acq_rel, std::memory_order_relaxed));
  return true;
}

void Store::set_lease(Key key, LeaseState lease) {
  Word& word = leased_word(key);
  word.store(SlotWord(word.load(std::memory_order_relaxed)).with_lease(lease).bits(),
             std::memory_order_release);
}

}  // namespace lapse
