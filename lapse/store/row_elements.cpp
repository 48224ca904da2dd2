#include "lapse/store/row_elements.hpp"

#include <array>
#include <atomic>
#include <cstring>

namespace lapse {

namespace {

// One load that the compiler neither repeats nor splits.
template <class T>
T racy_load(const std::byte* from) {
  return __atomic_load_n(reinterpret_cast<const T*>(from), __ATOMIC_RELAXED);
}

template <class T>
void gather_as(const std::byte* value, const ElementRun& run, std::byte* to) {
  for (std::size_t i = 0; i < run.count; ++i)
    std::memcpy(to + i * sizeof(T), value + run.indices[i] * sizeof(T), sizeof(T));
}

}  // namespace

void RowElements::gather(const std::byte* value, std::size_t element_bytes, const ElementRun& run,
                         std::byte* to) {
  if (element_bytes == sizeof(std::uint32_t)) {
    gather_as<std::uint32_t>(value, run, to);
  } else {
    gather_as<std::uint64_t>(value, run, to);
  }
}

void RowElements::prefetch_element(Key key, std::uint32_t index) const {
  const Word* const word = store_.find(key);
  if (word == nullptr) return;
  const SlotBits now(word->load(std::memory_order_relaxed));
  if (now.passes(SlotBits::kOpenValue) && !now.is_private())
    __builtin_prefetch(store_.shared_address(now.low()) + index * element_bytes_, 1);
}

template <class T>
Found RowElements::read_as(Word& word, Reach reach, const ElementRun& run, std::byte* to) const {
  const SlotBits::Test test = reach == Reach::any ? SlotBits::kOpenValue : SlotBits::kOpenOwner;
#if !defined(__SANITIZE_THREAD__)
  constexpr int kOptimisticAttempts = 8;
  for (int attempt = 0; attempt < kOptimisticAttempts; ++attempt) {
    const SlotBits before(word.load(std::memory_order_acquire));
    if (!store_.is_open(before, test)) return {};
    if (before.latched()) continue;
    const std::byte* const value = store_.address_of(before);
    for (std::size_t i = 0; i < run.count; ++i) {
      const T element = racy_load<T>(value + run.indices[i] * sizeof(T));
      std::memcpy(to + i * sizeof(T), &element, sizeof(T));
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (word.load(std::memory_order_relaxed) == before.bits()) [[likely]]
      return Found(before);
  }
#endif
  const SlotBits latched = store_.latch_open(word, test);
  if (!latched.latched()) return {};
  gather_as<T>(store_.address_of(latched), run, to);
  // Nothing was written: reads in flight stay valid, so the sequence stays.
  word.store(latched.bits() & ~SlotBits::kLatchBit, std::memory_order_release);
  return Found(latched);
}

Found RowElements::read_at(Word& word, Reach reach, const ElementRun& run, std::byte* to) const {
  return element_bytes_ == sizeof(std::uint32_t) ? read_as<std::uint32_t>(word, reach, run, to)
                                                 : read_as<std::uint64_t>(word, reach, run, to);
}

RowElements::Done RowElements::read(const ElementPairs& pairs, std::byte* to) const {
#if !defined(__SANITIZE_THREAD__)
  if (!pairs.have_one_key() && !store_.is_sparse()) {
    return element_bytes_ == sizeof(std::uint32_t) ? read_dense<std::uint32_t>(pairs, to)
                                                   : read_dense<std::uint64_t>(pairs, to);
  }
#endif
  return read_runs(pairs, to, {});
}

RowElements::Done RowElements::read_runs(const ElementPairs& pairs, std::byte* to, Done done) const {
  while (done.pairs < pairs.size()) {
    const std::size_t first = done.pairs;
    const std::size_t end = pairs.end_of_run(first);
    prefetch_ahead(pairs, first, end);
    Word* const word = store_.find(pairs.key(first));
    if (word == nullptr) break;
    const ElementRun run{&pairs.indices[first], end - first};
    const Found found = read_at(*word, Reach::any, run, to + first * element_bytes_);
    if (!found) break;
    done.pairs = end;
    ++done.runs;
    done.copies += found.is_copy() ? 1 : 0;
  }
  return done;
}

// Group by group: load all slot words, then the elements, then all slot words again. At the beginning,
// prefetch the slot words of the group after the next. A group has two branches, unless it has a run of
// several pairs or is disturbed. Its elements need no prefetching: the processor loads many of them at once.
template <class T>
RowElements::Done RowElements::read_dense(const ElementPairs& pairs, std::byte* to) const {
  constexpr std::uint64_t kNotReadable = SlotBits::kLeasedBit | SlotBits::kLatchBit | SlotBits::kPrivateBit;
  constexpr std::uint64_t kNotOwner = SlotBits::kRoleMask & ~SlotBits::kOwnerBits;
  Word* const words = store_.words().dense();
  const Key* const keys = pairs.keys.data();
  const std::uint32_t* const indices = pairs.indices.data();
  const std::byte* const slots = store_.shared_address(0);
  const std::ptrdiff_t unit_bytes = store_.shared_address(1) - slots;
  std::array<std::uint64_t, kGroup> before;
  Done done;
  std::size_t at = 0;
  while (at + kGroup < pairs.size()) {
    prefetch_words(words, pairs, at);
    const Key* const group = keys + at;
    std::uint64_t all = ~std::uint64_t{0};
    std::uint64_t any = 0;
    bool has_run = false;
    for (std::size_t i = 0; i < kGroup; ++i) {
      before[i] = words[group[i].index()].load(std::memory_order_acquire);
      all &= before[i];
      any |= before[i];
      has_run |= group[i] == group[i + 1];
    }
    // Each slot word is readable (SlotBits::is_readable).
    const bool readable = (all & SlotBits::kUsableBit) != 0 && (any & kNotReadable) == 0;
    if (readable && !has_run) [[likely]] {
      for (std::size_t i = 0; i < kGroup; ++i) {
        const std::byte* const value = slots + std::ptrdiff_t{SlotBits(before[i]).low()} * unit_bytes;
        const T element = racy_load<T>(value + indices[at + i] * sizeof(T));
        std::memcpy(to + (at + i) * sizeof(T), &element, sizeof(T));
      }
      std::atomic_thread_fence(std::memory_order_acquire);
      std::uint64_t changes = 0;
      for (std::size_t i = 0; i < kGroup; ++i)
        changes |= words[group[i].index()].load(std::memory_order_relaxed) ^ before[i];
      if (changes == 0) [[likely]] {
        if ((any & kNotOwner) != 0) {
          for (const std::uint64_t bits : before) done.copies += SlotBits(bits).is_copy() ? 1 : 0;
        }
        done.runs += kGroup;
        at += kGroup;
        continue;
      }
    }
    for (const std::size_t end_of_group = at + kGroup; at < end_of_group;) {
      const std::size_t end = pairs.end_of_run(at);
      prefetch_ahead(pairs, at, end);
      const Found found =
          read_as<T>(words[keys[at].index()], Reach::any, {indices + at, end - at}, to + at * sizeof(T));
      if (!found) {
        done.pairs = at;
        return done;
      }
      done.copies += found.is_copy() ? 1 : 0;
      ++done.runs;
      at = end;
    }
  }
  done.pairs = at;
  return read_runs(pairs, to, done);
}

}  // namespace lapse
