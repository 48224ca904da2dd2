// Which slots were written since the last round.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lapse {

// A set of slots, by the number of their first unit: a bitmap with two levels of summaries above it, so that
// a search skips 262,144 units by loading one word. The caller provides the memory, initially zero, which the
// ranks of a domain may share; this object is one rank's view of it, cheap to copy.
//
// Each rank takes the units of the slots that it allocates: its *range*. Ranges do not overlap.
//
// Thread safety: mark, test and any by any thread of any rank; take by one thread at a time per range. A unit
// is marked by the thread that holds its key's latch, or by the one that takes the range.
//
// Guarantees:
// 1. A take takes every unit whose mark happened before it, unless an earlier take did.
// 2. A thread that latches a unit's key after take has called f for the unit sees every write whose mark was
//    taken; a later write marks the unit again.
// 3. Units of other ranges are unchanged, even if ranges meet within a word of the bitmap.
class DirtySet {
 public:
  using Word = std::atomic<std::uint64_t>;

  // Bytes of the bitmap of `units` units. The bitmap of fewer units is a prefix of it.
  static constexpr std::size_t bytes(std::uint64_t units) {
    const std::uint64_t rest = units % kGroupUnits;
    const std::uint64_t rest_words = rest == 0 ? 0 : kBitsAt + (rest + kBits - 1) / kBits;
    return (units / kGroupUnits * kGroupWords + rest_words) * sizeof(Word);
  }
  // The number of units whose bitmap fits into `bytes` bytes.
  static constexpr std::uint64_t units_of(std::size_t bytes) {
    const std::uint64_t words = bytes / sizeof(Word);
    const std::uint64_t rest = words % kGroupWords;
    return words / kGroupWords * kGroupUnits + (rest <= kBitsAt ? 0 : (rest - kBitsAt) * kBits);
  }

  // The empty set.
  DirtySet() = default;
  // `memory`: bytes(units) bytes, aligned to 64 bytes.
  DirtySet(std::byte* memory, std::uint64_t units) : words_(reinterpret_cast<Word*>(memory)), units_(units) {}

  std::uint64_t units() const { return units_; }

  // Call after writing to the slot.
  void mark(std::uint64_t unit) const {
    // If the bit is set, the thread that set it has also set the summaries, as it held the latch before. If a
    // take clears the bit just now, it latches the key after the caller.
    Word& word = bits(unit / kBits);
    const std::uint64_t bit = bit_of(unit);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
    word.fetch_or(bit, std::memory_order_seq_cst);
    summarise(unit / kBits);
  }
  bool test(std::uint64_t unit) const {
    return (bits(unit / kBits).load(std::memory_order_relaxed) & bit_of(unit)) != 0;
  }

  // Clears the mark of each marked unit among `count` units from `first` on, then calls f(unit). What f marks
  // is for the next take, or for this one if its number is higher. If f throws, the units it was not called
  // for stay marked.
  template <class F>
  void take(std::uint64_t first, std::uint64_t count, F&& f) const {
    // The summary of a word that several ranges share is not cleared, as it may stand for marks of another
    // range: such words, at most two per level, are loaded every time.
    for_each_part(
        first, count, [&](std::uint64_t word, std::uint64_t mask) { take_bits(word, mask, f); },
        [&](std::uint64_t middle, std::uint64_t mask) { take_middle(middle, mask, f); },
        [&](std::uint64_t top, std::uint64_t mask) { take_top(top, mask, f); });
  }

  // Whether there may be a mark among `count` units from `first` on, by the summaries: may stay true for some
  // time after a concurrent take took the last mark.
  bool any(std::uint64_t first, std::uint64_t count) const {
    std::uint64_t seen = 0;
    const auto look_at = [&](const Word& word, std::uint64_t mask) {
      seen |= word.load(std::memory_order_relaxed) & mask;
    };
    for_each_part(
        first, count, [&](std::uint64_t word, std::uint64_t mask) { look_at(bits(word), mask); },
        [&](std::uint64_t word, std::uint64_t mask) { look_at(middle(word), mask); },
        [&](std::uint64_t word, std::uint64_t mask) { look_at(top(word), mask); });
    return seen != 0;
  }

 private:
  // The memory consists of groups, so that it can grow:
  //
  //     | top: 1 word | padding to 64 bytes | middle: 64 words | bits: 4096 words |
  //
  // A bit of the middle level is set if a word of bits may be nonzero, a bit of the top if a word of the
  // middle level may be.
  static constexpr std::uint64_t kBits = 64;  // of a word
  static constexpr std::uint64_t kGroupUnits = kBits * kBits * kBits;
  static constexpr std::uint64_t kMiddleAt = 8;
  static constexpr std::uint64_t kBitsAt = kMiddleAt + kBits;
  static constexpr std::uint64_t kGroupWords = kBitsAt + kBits * kBits;
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  // The words of each level, numbered across all groups.
  Word& top(std::uint64_t number) const { return words_[number * kGroupWords]; }
  Word& middle(std::uint64_t number) const {
    return words_[number / kBits * kGroupWords + kMiddleAt + number % kBits];
  }
  Word& bits(std::uint64_t number) const {
    return words_[number / (kBits * kBits) * kGroupWords + kBitsAt + number % (kBits * kBits)];
  }
  static constexpr std::uint64_t bit_of(std::uint64_t number) { return std::uint64_t{1} << number % kBits; }

  // A marker sets the bit, then loads the summaries; a take clears the summaries, then loads the bits. All of
  // it is sequentially consistent: a marker that finds a summary set does so either before the take clears
  // it, so that the take finds the bit, or after it was set anew, for the next take. With weaker orders both
  // could load what was there before the other's store. Each level is checked even if the one below was set:
  // the thread that set that one may not have reached this one yet.
  static void raise(Word& summary, std::uint64_t bit) {
    if ((summary.load(std::memory_order_seq_cst) & bit) == 0)
      summary.fetch_or(bit, std::memory_order_seq_cst);
  }
  void summarise(std::uint64_t word) const {
    raise(middle(word / kBits), bit_of(word));
    raise(top(word / (kBits * kBits)), bit_of(word / kBits));
  }

  // Clears the bits of `mask` in the word and calls f(number) with the bit's number for each that was set. If
  // f throws, calls put_back(bits) with the rest.
  template <class F, class G>
  static void clear(Word& word, std::uint64_t number, std::uint64_t mask, F&& f, G&& put_back) {
    if ((word.load(std::memory_order_seq_cst) & mask) == 0) return;
    std::uint64_t left = word.fetch_and(~mask, std::memory_order_seq_cst) & mask;
    struct Guard {
      std::uint64_t& left;
      G& put_back;
      ~Guard() {
        if (left != 0) put_back(left);
      }
    } const guard{left, put_back};
    while (left != 0) {
      const auto bit = static_cast<std::uint64_t>(std::countr_zero(left));
      left &= left - 1;
      f(number * kBits + bit);
    }
  }
  template <class F>
  void take_bits(std::uint64_t word, std::uint64_t mask, F& f) const {
    clear(bits(word), word, mask, f, [&](std::uint64_t left) {
      bits(word).fetch_or(left, std::memory_order_seq_cst);
      summarise(word);
    });
  }
  template <class F>
  void take_middle(std::uint64_t number, std::uint64_t mask, F& f) const {
    clear(
        middle(number), number, mask, [&](std::uint64_t word) { take_bits(word, kAll, f); },
        [&](std::uint64_t left) {
          middle(number).fetch_or(left, std::memory_order_seq_cst);
          raise(top(number / kBits), bit_of(number));
        });
  }
  template <class F>
  void take_top(std::uint64_t number, std::uint64_t mask, F& f) const {
    clear(
        top(number), number, mask, [&](std::uint64_t word) { take_middle(word, kAll, f); },
        [&](std::uint64_t left) { top(number).fetch_or(left, std::memory_order_seq_cst); });
  }

  // Cuts [first, end) at multiples of 64: calls on_edge(word, mask) for each partial word and inside(first
  // word, end word) for the whole ones.
  template <class Edge, class Inside>
  static void cut(std::uint64_t first, std::uint64_t end, Edge&& on_edge, Inside&& inside) {
    std::uint64_t word = first / kBits;
    const std::uint64_t end_word = end / kBits;
    const std::uint64_t from = kAll << first % kBits;
    const std::uint64_t below = bit_of(end) - 1;
    if (word == end_word) {
      if ((from & below) != 0) on_edge(word, from & below);
      return;
    }
    if (from != kAll) on_edge(word++, from);
    if (word < end_word) inside(word, end_word);
    if (below != 0) on_edge(end_word, below);
  }
  // Visits the units of a range, by whole bits of the top level as far as possible: at(word, mask) for words
  // of each level.
  template <class AtBits, class AtMiddle, class AtTop>
  void for_each_part(std::uint64_t first, std::uint64_t count, AtBits&& at_bits, AtMiddle&& at_middle,
                     AtTop&& at_top) const {
    if (first >= units_) return;
    cut(first, first + std::min(count, units_ - first), at_bits,
        [&](std::uint64_t word, std::uint64_t end_word) {
          cut(word, end_word, at_middle, [&](std::uint64_t summary, std::uint64_t end_summary) {
            cut(summary, end_summary, at_top, [&](std::uint64_t number, std::uint64_t end_number) {
              for (; number < end_number; ++number) at_top(number, kAll);
            });
          });
        });
  }

  Word* words_ = nullptr;
  std::uint64_t units_ = 0;
};

}  // namespace lapse
