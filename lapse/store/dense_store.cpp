#include "lapse/store/dense_store.hpp"

#include <fmt/format.h>

#include <cstring>

#include "lapse/core/error.hpp"

namespace lapse {

DenseStore::DenseStore(RegionAllocator& regions, std::uint64_t keys, const ValueLayout& layout,
                       std::uint64_t expected_slots)
    : keys_(keys),
      layout_(layout),
      value_bytes_(layout.value_bytes()),
      words_region_(regions.reserve(keys * sizeof(std::uint64_t))),
      words_(nullptr),
      slots_(regions, layout.slot_bytes(), keys) {
  if (!words_region_ || !words_region_->commit(0, words_region_->capacity_bytes())) {
    throw OutOfMemory(
        fmt::format("no memory for the words of {} keys ({} bytes)", keys, keys * sizeof(std::uint64_t)));
  }
  // Zeroed memory is an array of absent words; atomics of 64 bits have the representation of their value.
  words_ = reinterpret_cast<std::atomic<std::uint64_t>*>(words_region_->base());
  slots_.commit_for(expected_slots);
}

bool DenseStore::read_latched(Key key, std::byte* to) const {
  const std::optional<SlotWord> word = latch_open_owner(key);
  if (!word) return false;
  std::memcpy(to, slots_.address(word->low()), value_bytes_);
  // Nothing was written: readers that are under way stay valid, so the sequence stays.
  words_[key.index()].store(word->bits() & ~SlotWord::kLatchBit, std::memory_order_release);
  return true;
}

void DenseStore::change_role(Key key, Role expected, SlotWord next) {
  std::atomic<std::uint64_t>& word = words_[key.index()];
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  if (SlotWord(bits).role() != expected ||
      !word.compare_exchange_strong(bits, next.bits(), std::memory_order_acq_rel)) {
    throw ProtocolError(fmt::format("key {} changed from role {} while its role should have been {}",
                                    key.value(), static_cast<int>(SlotWord(bits).role()),
                                    static_cast<int>(expected)));
  }
}

std::byte* DenseStore::create(Key key) {
  const std::uint32_t slot = slots_.allocate();
  change_role(key, Role::absent, word(key).with_role(Role::owner, slot));
  return slots_.address(slot);
}

void DenseStore::begin_arrival(Key key, std::uint32_t arrival) {
  change_role(key, Role::absent, word(key).with_role(Role::arriving, arrival));
}

void DenseStore::publish_owner(Key key, std::uint32_t slot) {
  change_role(key, Role::arriving, word(key).with_role(Role::owner, slot));
}

void DenseStore::pass_on(Key key, Domain next) {
  change_role(key, Role::arriving, word(key).absent(next));
}

void DenseStore::hand_over(Key key, std::byte* to, Domain next) {
  const std::optional<SlotWord> latched = latch_open_owner(key);
  if (!latched)
    throw ProtocolError(
        fmt::format("key {} is to be handed over by a domain that does not own it", key.value()));
  std::memcpy(to, slots_.address(latched->low()), value_bytes_);
  words_[key.index()].store(latched->absent(next).bits(), std::memory_order_release);
  slots_.release(latched->low());
}

void DenseStore::set_hint(Key key, Domain hint) {
  std::atomic<std::uint64_t>& word = words_[key.index()];
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  if (SlotWord(bits).role() != Role::absent || SlotWord(bits).hint() == hint) return;
  word.compare_exchange_strong(bits, SlotWord(bits).with_hint(hint).bits(), std::memory_order_relaxed);
}

}  // namespace lapse
