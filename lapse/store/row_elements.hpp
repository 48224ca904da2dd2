// Reads and changes single elements of values in memory.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lapse/core/types.hpp"
#include "lapse/store/store.hpp"

namespace lapse {

// Pairs of a key and the index of one of its elements. Adjacent pairs of one key form a *run*, which is
// accessed as a whole: one check of the slot word, or one latch.
struct ElementPairs {
  // Longer runs are accessed, and sent, in parts.
  static constexpr std::size_t kMaxRun = 4096;

  std::span<const Key> keys;  // of each pair, or a single one of all pairs
  std::span<const std::uint32_t> indices;

  std::size_t size() const { return indices.size(); }
  bool have_one_key() const { return keys.size() == 1; }
  Key key(std::size_t pair) const { return keys[have_one_key() ? 0 : pair]; }
  // The end of the run that begins with this pair.
  std::size_t end_of_run(std::size_t first) const {
    const std::size_t most = std::min(indices.size(), first + kMaxRun);
    if (have_one_key()) return most;
    std::size_t end = first + 1;
    while (end < most && keys[end] == keys[first]) ++end;
    return end;
  }
};

// Elements of one value.
struct ElementRun {
  const std::uint32_t* indices;
  std::size_t count;
};

// Access to the elements of a store's values. Every index is below the length of its key's value.
//
// Thread safety: any thread, as SlotAccess.
class RowElements {
 public:
  using Word = Store::Word;
  using Reach = Store::Reach;

  explicit RowElements(Store& store)
      : store_(store), element_bytes_(element_bytes(store.sizes().layout().type)) {}

  // Copies the elements of a run to `to`, as the key's value had them at one moment. Returns false if the key
  // is not local or is leased.
  Found read_at(Word& word, Reach reach, const ElementRun& run, std::byte* to) const;

  // How many pairs were handled, from the first on, in how many runs, and how many of these on a replica.
  struct Done {
    std::size_t pairs = 0;
    std::size_t runs = 0;
    std::size_t copies = 0;
  };
  // Reads elements, contiguously, from main copies and replicas, up to the first run whose key is not local
  // or is leased.
  Done read(const ElementPairs& pairs, std::byte* to) const;
  // Updates values as read reads them: calls f(first, end, slot) for the pairs of a run, with the latch of
  // their key held. `reach`: like Store::update_at. f must not throw.
  template <class F>
  Done update(const ElementPairs& pairs, Reach reach, F&& f) const {
    if (pairs.have_one_key() || store_.is_sparse()) return update_runs(pairs, reach, f, {});
    return update_dense(pairs, reach, f);
  }

  // Prefetches an element of a local value. The index may be any number.
  void prefetch_element(Key key, std::uint32_t index) const;

  // Copies elements of a value that no other thread changes.
  static void gather(const std::byte* value, std::size_t element_bytes, const ElementRun& run, std::byte* to);

 private:
  static constexpr std::size_t kGroup = 16;

  // Prefetches the slot words of the group after the next.
  static void prefetch_words(const Word* words, const ElementPairs& pairs, std::size_t at) {
    if (at + 3 * kGroup > pairs.size()) return;
    for (std::size_t i = at + 2 * kGroup; i < at + 3 * kGroup; ++i)
      __builtin_prefetch(words + pairs.keys[i].index());
  }
  // Prefetches slot words and elements of the pairs after those of a run.
  void prefetch_ahead(const ElementPairs& pairs, std::size_t first, std::size_t end) const {
    constexpr std::size_t kFarAhead = 28;
    constexpr std::size_t kWordsAhead = 16;
    constexpr std::size_t kElementsAhead = 8;
    if (pairs.have_one_key()) return;
    const std::size_t size = pairs.size();
    // For each pair of the run, at most those of which it is the turn.
    const std::size_t last = std::min(end, first + kWordsAhead);
    for (std::size_t at = first; at < last; ++at) {
      if (store_.is_sparse() && at + kFarAhead < size) store_.prefetch_far(pairs.keys[at + kFarAhead]);
      if (at + kWordsAhead < size) store_.prefetch_word(pairs.keys[at + kWordsAhead]);
      if (at + kElementsAhead < size)
        prefetch_element(pairs.keys[at + kElementsAhead], pairs.indices[at + kElementsAhead]);
    }
  }

  template <class T>
  Found read_as(Word& word, Reach reach, const ElementRun& run, std::byte* to) const;
  template <class T>
  Done read_dense(const ElementPairs& pairs, std::byte* to) const;
  Done read_runs(const ElementPairs& pairs, std::byte* to, Done done) const;
  template <class F>
  bool update_run(const ElementPairs& pairs, Reach reach, F& f, Done& done) const;
  template <class F>
  Done update_runs(const ElementPairs& pairs, Reach reach, F& f, Done done) const;
  template <class F>
  Done update_dense(const ElementPairs& pairs, Reach reach, F& f) const;

  Store& store_;
  const std::size_t element_bytes_;
};

// Updates the next run. Returns false if its key is not local.
template <class F>
bool RowElements::update_run(const ElementPairs& pairs, Reach reach, F& f, Done& done) const {
  const std::size_t first = done.pairs;
  const std::size_t end = pairs.end_of_run(first);
  Word* const word = store_.find(pairs.key(first));
  if (word == nullptr) return false;
  const Found found = store_.update_at(*word, reach, [&](std::byte* slot) { f(first, end, slot); });
  if (!found) return false;
  done.pairs = end;
  ++done.runs;
  done.copies += found.is_copy() ? 1 : 0;
  return true;
}

template <class F>
RowElements::Done RowElements::update_runs(const ElementPairs& pairs, Reach reach, F& f, Done done) const {
  while (done.pairs < pairs.size()) {
    prefetch_ahead(pairs, done.pairs, pairs.end_of_run(done.pairs));
    if (!update_run(pairs, reach, f, done)) break;
  }
  return done;
}

// Group by group, like read_dense: the slot words that were loaded to prefetch are those that are latched.
template <class F>
RowElements::Done RowElements::update_dense(const ElementPairs& pairs, Reach reach, F& f) const {
  Word* const words = store_.words().dense();
  const Key* const keys = pairs.keys.data();
  const std::uint32_t* const indices = pairs.indices.data();
  std::byte* const slots = store_.shared_address(0);
  const std::ptrdiff_t unit_bytes = store_.shared_address(1) - slots;
  const std::size_t element_bytes = element_bytes_;
  const SlotBits::Test test = store_.changes(reach);
  // In addition, every rank can address the slot, and no thread holds the latch.
  const SlotBits::Test simple{test.mask | SlotBits::kPrivateBit | SlotBits::kLatchBit, test.value};
  std::array<std::uint64_t, kGroup> before;
  std::array<std::byte*, kGroup> values;
  Done done;
  while (done.pairs + kGroup < pairs.size()) {
    const std::size_t group = done.pairs;
    prefetch_words(words, pairs, group);
    for (std::size_t i = 0; i < kGroup; ++i) {
      before[i] = words[keys[group + i].index()].load(std::memory_order_relaxed);
      // For a slot word that names no slot this is an arbitrary address, which prefetching tolerates.
      values[i] = slots + std::ptrdiff_t{SlotBits(before[i]).low()} * unit_bytes;
      __builtin_prefetch(values[i] + indices[group + i] * element_bytes, 1);
    }
    while (done.pairs < group + kGroup) {
      const std::size_t at = done.pairs;
      Word& word = words[keys[at].index()];
      const SlotBits seen(before[at - group]);
      const SlotBits latched = seen.with_latch();
      std::uint64_t bits = seen.bits();
      if (keys[at] != keys[at + 1] && seen.passes(simple) &&
          word.compare_exchange_strong(bits, latched.bits(), std::memory_order_acquire,
                                       std::memory_order_relaxed)) [[likely]] {
        std::atomic_thread_fence(std::memory_order_release);
        f(at, at + 1, values[at - group]);
        store_.release(word, latched);
        ++done.pairs;
        ++done.runs;
        done.copies += latched.is_copy() ? 1 : 0;
      } else {
        // A long run outlasts the elements prefetched so far, so prefetch further ahead.
        if (keys[at] == keys[at + 1]) prefetch_ahead(pairs, at, pairs.end_of_run(at));
        if (!update_run(pairs, reach, f, done)) return done;
      }
    }
  }
  return update_runs(pairs, reach, f, done);
}

}  // namespace lapse
