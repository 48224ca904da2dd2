// The inlined functions of Store.
#pragma once

#include "lapse/store/store.hpp"
#include "lapse/store/words/prefetch_for_write.hpp"

namespace lapse {

template <class F>
Store::Run Store::update_run(std::span<const Key> keys, Reach reach, F&& f) {
  Run run;
  const SlotBits::Test test = changes(reach);
  const auto update = [&](Word& word) {
    const Found found = update_if(word, test, [&](std::byte* content) { f(run.keys, content); });
    if (!found) [[unlikely]]
      return false;
    run.copies += found.is_copy() ? 1 : 0;
    ++run.keys;
    return true;
  };
  // Small values group by group, like read_run.
  constexpr std::size_t kGroup = 8;
  constexpr std::size_t kSmallBytes = 128;
  Word* const words = sizes_.layout().content_bytes() <= kSmallBytes ? words_.dense() : nullptr;
  for (std::size_t i = 0; words != nullptr && i < std::min(kGroup, keys.size()); ++i)
    prefetch_change(words[keys[i].index()]);
  while (words != nullptr && run.keys + kGroup <= keys.size()) {
    const Key* const group = keys.data() + run.keys;
    const std::size_t left = keys.size() - run.keys;
    if (left >= 4 * kGroup) {
      for (std::size_t i = 3 * kGroup; i < 4 * kGroup; ++i) prefetch_for_write(words + group[i].index());
    }
    if (left >= 2 * kGroup) {
      for (std::size_t i = kGroup; i < 2 * kGroup; ++i) prefetch_change(words[group[i].index()]);
    }
    for (std::size_t i = 0; i < kGroup; ++i) {
      if (!update(words[group[i].index()])) [[unlikely]]
        return run;
    }
  }
  while (run.keys < keys.size()) {
    prefetch_run(keys, run.keys, sizes_.layout().content_bytes());
    Word* const word = words_.find(keys[run.keys]);
    if (word == nullptr || !update(*word)) break;
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

inline void Store::prefetch_run(std::span<const Key> keys, std::size_t at, std::size_t bytes) const {
  constexpr std::size_t kFarAhead = 28;
  constexpr std::size_t kWordsAhead = 16;
  constexpr std::size_t kValuesAhead = 6;
  if (is_sparse() && at + kFarAhead < keys.size()) words_.prefetch_far(keys[at + kFarAhead]);
  if (at + kWordsAhead < keys.size()) words_.prefetch_near(keys[at + kWordsAhead]);
  if (at + kValuesAhead >= keys.size()) return;
  if (const Word* word = words_.find(keys[at + kValuesAhead])) prefetch_content(*word, bytes);
}
// Of a small value. For a slot word that names no slot this is an arbitrary address, which prefetching
// tolerates.
inline void Store::prefetch_change(const Word& at) const {
  const std::byte* const content = shared_address(SlotBits(at.load(std::memory_order_relaxed)).low());
  prefetch_for_write(content);
  prefetch_for_write(content + 64);
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
