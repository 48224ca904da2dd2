// Which slots were written to since the last round.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace lapse {

// A set of slots, by the number of their first unit: a bitmap with two levels of summaries above it, so that
// a search skips 262,144 units with the load of one word. It is kept in memory from outside, which the ranks
// of a domain may share and which reads as zero at first; this object is one rank's view of it, a cheap
// copy.
//
// Each rank takes the units of the slots that it gives out: its *range*. Ranges do not overlap.
//
// Thread safety: mark, test and any by any thread of any rank; take by one thread at a time for each range. A
// unit is marked by the thread that holds the latch of its key, or by the one that takes the range.
//
// Guarantees:
// 1. A unit whose mark happened before a take is taken by it, if by no take before.
// 2. Who latches the key of a unit after take has called f for the unit sees every write whose mark was
//    taken; a later write marks the unit again.
// 3. Units of other ranges stay as they are, also where ranges meet within a word of the bitmap.
class DirtySet {
 public:
  using Word = std::atomic<std::uint64_t>;

  // Bytes of the bitmap of so many units. The bitmap of fewer units is its beginning.
  static constexpr std::size_t bytes(std::uint64_t units) {
    const std::uint64_t rest = units % kGroupUnits;
    const std::uint64_t rest_words = rest == 0 ? 0 : kBitsAt + (rest + kBits - 1) / kBits;
    return (units / kGroupUnits * kGroupWords + rest_words) * sizeof(Word);
  }
  // As many units as so many bytes are enough for.
  static constexpr std::uint64_t units_of(std::size_t bytes) {
    const std::uint64_t words = bytes / sizeof(Word);
    const std::uint64_t rest = words % kGroupWords;
    return words / kGroupWords * kGroupUnits + (rest <= kBitsAt ? 0 : (rest - kBitsAt) * kBits);
  }

  // Of no unit.
  DirtySet() = default;
  // `memory`, aligned to 64 bytes, has bytes(units) bytes.
  DirtySet(std::byte* memory, std::uint64_t units) : words_(reinterpret_cast<Word*>(memory)), units_(units) {}

  std::uint64_t units() const { return units_; }

  // The caller has written to the slot.
  void mark(std::uint64_t unit) const {
    // Where the bit is set, the thread that set it has set the summaries, too: it held the latch before. If a
    // take clears the bit just now, it latches the key behind the caller.
    Word& word = bits(unit / kBits);
    const std::uint64_t bit = bit_of(unit);
    if ((word.load(std::memory_order_relaxed) & bit) != 0) return;
    word.fetch_or(bit, std::memory_order_seq_cst);
    summarise(unit / kBits);
  }
  bool test(std::uint64_t unit) const {
    return (bits(unit / kBits).load(std::memory_order_relaxed) & bit_of(unit)) != 0;
  }

  // Clears the mark of each marked unit among `count` units from `first` on, and then calls f(unit). What f
  // marks is for the next take, or for this one where it has a higher number. When f throws, the units that
  // it was not called for stay marked.
  template <class F>
  void take(std::uint64_t first, std::uint64_t count, F&& f) const {
    // The summary of a word that several ranges share is left alone, as marks of another range may be behind
    // it: such words, at most two on each level, are loaded every time.
    for_each_part(
        first, count, [&](std::uint64_t word, std::uint64_t mask) { take_bits(word, mask, f); },
        [&](std::uint64_t middle, std::uint64_t mask) { take_middle(middle, mask, f); },
        [&](std::uint64_t top, std::uint64_t mask) { take_top(top, mask, f); });
  }

  // Whether there may be a mark among `count` units from `first` on. By the summaries: true for some time
  // after the last mark was taken by a take that ran at the same time.
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
  // A bit of the middle level is set where a word of bits may not be 0, a bit of the top where a word of the
  // middle level may not be 0.
  static constexpr std::uint64_t kBits = 64;  // of a word
  static constexpr std::uint64_t kGroupUnits = kBits * kBits * kBits;
  static constexpr std::uint64_t kMiddleAt = 8;
  static constexpr std::uint64_t kBitsAt = kMiddleAt + kBits;
  static constexpr std::uint64_t kGroupWords = kBitsAt + kBits * kBits;
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  // The words of each level, counted through all groups.
  Word& top(std::uint64_t number) const { return words_[number * kGroupWords]; }
  Word& middle(std::uint64_t number) const {
    return words_[number / kBits * kGroupWords + kMiddleAt + number % kBits];
  }
  Word& bits(std::uint64_t number) const {
    return words_[number / (kBits * kBits) * kGroupWords + kBitsAt + number % (kBits * kBits)];
  }
  static constexpr std::uint64_t bit_of(std::uint64_t number) { return std::uint64_t{1} << number % kBits; }

  // A marker sets the bit first and loads the summaries then; a take clears the summaries first and loads the
  // bits then. All of it is sequentially consistent: a marker that finds a summary set either does so before
  // the take clears it, so that the take finds the bit, or after it was set anew, for the next take. With
  // weaker orders both could load what was there before the other's store. Each level is looked at even if
  // the one below was set: the thread that set it may not have come further.
  static void raise(Word& summary, std::uint64_t bit) {
    if ((summary.load(std::memory_order_seq_cst) & bit) == 0)
      summary.fetch_or(bit, std::memory_order_seq_cst);
  }
  void summarise(std::uint64_t word) const {
    raise(middle(word / kBits), bit_of(word));
    raise(top(word / (kBits * kBits)), bit_of(word / kBits));
  }

  // Clears the bits of `mask` in the word and calls f(number) for each that was set, with the number of the
  // bit; when f throws, calls put_back(bits) with those that are left.
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

  // Cuts [first, end) at multiples of 64: on_edge(word, mask) for the words that are not whole, if any, and
  // inside(first word, end word) for those that are.
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
  // The units of a range, by whole bits of the top level as far as possible: at(word, mask) for words of each
  // level.
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
