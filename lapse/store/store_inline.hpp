// The inlined functions of Store.
#pragma once

#include "lapse/store/store.hpp"

namespace lapse {

template <class F>
Store::Run Store::update_run(std::span<const Key> keys, Reach reach, F&& f) {
  Run run;
  for (; run.keys < keys.size(); ++run.keys) {
    prefetch_run(keys, run.keys);
    Word* const word = words_.find(keys[run.keys]);
    if (word == nullptr) break;
    const Found found = update_if(*word, changes(reach), [&](std::byte* content) { f(run.keys, content); });
    if (!found) break;
    run.copies += found.is_copy() ? 1 : 0;
  }
  return run;
}

template <class F>
void Store::for_each_here(F&& f) const {
  words_.for_each([&](Key key, const Word& word) {
    if (has_main_copy(SlotWord(word.load(std::memory_order_acquire)).role())) f(key);
  });
}

template <class F>
void Store::for_each_own(F&& f) const {
  words_.for_each([&](Key key, const Word& word) {
    const SlotWord now(word.load(std::memory_order_acquire));
    if (!has_main_copy(now.role())) return;
    const Slot slot = now.slot();
    const SlabAllocator* const slots = slot.is_private ? private_slots_.get() : &slots_;
    if (slots != nullptr && slots->is_own(slot.number)) f(key, slot);
  });
}

inline void Store::prefetch_run(std::span<const Key> keys, std::size_t at) const {
  constexpr std::size_t kFarAhead = 28;
  constexpr std::size_t kWordsAhead = 16;
  constexpr std::size_t kValuesAhead = 6;
  if (is_sparse() && at + kFarAhead < keys.size()) words_.prefetch_far(keys[at + kFarAhead]);
  if (at + kWordsAhead < keys.size()) words_.prefetch_near(keys[at + kWordsAhead]);
  if (at + kValuesAhead >= keys.size()) return;
  if (const Word* word = words_.find(keys[at + kValuesAhead]))
    prefetch_content(*word, sizes_.layout().content_bytes());
}
inline void Store::prefetch_content(const Word& at, std::size_t bytes) const {
  const SlotWord word(at.load(std::memory_order_relaxed));
  if (!word.passes(SlotBits::kOpenValue) || word.slot().is_private) return;
  const std::byte* content = shared_address(word.low());
  for (std::size_t line = 0; line < bytes && line < kPrefetchBytes; line += 64)
    __builtin_prefetch(content + line);
}

template <class AfterEvent>
void Store::publish(Key key, Word& word, RoleEvent event, AfterEvent&& after_event) {
  std::uint64_t bits = word.load(std::memory_order_relaxed);
  for (;;) {
    const SlotWord before(bits);
    const SlotWord after = after_event(before);
    if (next_role(before.role(), event) != after.role()) throw_illegal_event(key, before.role(), event);
    if (!others_write_word(before.role())) {
      // Unlike a compare-exchange, a store does not wait for the cache line.
      word.store(after.bits(), std::memory_order_release);
    } else if (!word.compare_exchange_weak(bits, after.bits(), std::memory_order_acq_rel,
                                           std::memory_order_relaxed)) {
      continue;
    }
    if (has_main_copy(after.role())) count_here(key, true);
    role_changed(key, before.role(), after.role());
    return;
  }
}

inline Store::Attempt Store::try_read_at(Word& word, std::byte* to, std::size_t bytes) const {
#if !defined(__SANITIZE_THREAD__)
  const SlotBits before(word.load(std::memory_order_acquire));
  if (before.is_readable()) [[likely]] {
    racy_copy(to, shared_address(before.low()), bytes);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (word.load(std::memory_order_relaxed) == before.bits())
      return before.is_copy() ? Attempt::done_on_copy : Attempt::done;
  }
#endif
  return try_read_latched(word, to, bytes);
}

}  // namespace lapse
