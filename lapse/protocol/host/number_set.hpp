// A set of small numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lapse {

// A bitmap up to the largest number that was ever added. Pure.
class NumberSet {
 public:
  // Throws std::bad_alloc; then nothing has changed.
  void add(std::uint32_t number) {
    const std::size_t word = number / kBits;
    if (words_.size() <= word) words_.resize(word + 1);
    size_ += has(number) ? 0 : 1;
    words_[word] |= bit(number);
  }
  void remove(std::uint32_t number) {
    if (!has(number)) return;
    words_[number / kBits] &= ~bit(number);
    --size_;
  }
  bool has(std::uint32_t number) const {
    return number / kBits < words_.size() && (words_[number / kBits] & bit(number)) != 0;
  }
  std::size_t size() const { return size_; }
  // Returns the smallest number that is at least `first`; nullopt if there is none.
  std::optional<std::uint32_t> next(std::uint32_t first) const {
    if (size_ == 0) return std::nullopt;
    std::size_t word = first / kBits;
    if (word >= words_.size()) return std::nullopt;
    std::uint64_t bits = words_[word] & ~(bit(first) - 1);
    while (bits == 0) {
      if (++word == words_.size()) return std::nullopt;
      bits = words_[word];
    }
    return static_cast<std::uint32_t>(word * kBits + static_cast<std::size_t>(std::countr_zero(bits)));
  }

 private:
  static constexpr std::uint32_t kBits = 64;
  static std::uint64_t bit(std::uint32_t number) { return std::uint64_t{1} << number % kBits; }

  std::vector<std::uint64_t> words_;
  std::size_t size_ = 0;
};

}  // namespace lapse
