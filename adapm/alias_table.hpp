// Draws numbers by given weights, in constant time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/random.hpp"

namespace adapm {

// The alias method (Walker 1977, built as by Vose 1991): n columns of equal probability, each shared by its
// own number and one other. Takes 8 bytes for each number, and 12 more during construction.
//
// The shares are rounded to 2^-32 of a column: a number is drawn with a probability that differs by less than
// 1/n * 2^-32 * (numbers that share its column or give to it) from its part of the weights. A number with
// weight 0 is never drawn, any other may be.
//
// Thread safety: constant.
class LAPSE_EXPORT AliasTable {
 public:
  // Column indices have 32 bits.
  static constexpr std::uint64_t kMaxSize = std::uint64_t{1} << 32;

  // At least one weight and at most kMaxSize; each finite and not negative, one of them positive.
  explicit AliasTable(std::span<const double> weights);

  std::size_t size() const { return columns_.size(); }

  // Takes one number from the engine. Its product with n has the column in the high bits and the position
  // inside the column in the low bits.
  std::uint32_t draw(lapse::RandomEngine& random) const {
    const std::uint64_t bits = random();
    const std::uint64_t product = (bits >> 32U) * columns_.size() + ((bits & kLow) * columns_.size() >> 32U);
    const auto number = static_cast<std::uint32_t>(product >> 32U);
    const Column& column = columns_[number];
    return (product & kLow) < column.own ? number : column.other;
  }

  // The probability of each number under draw.
  std::vector<double> probabilities() const;

  std::size_t bytes() const { return columns_.capacity() * sizeof(Column); }
  // Equal for equal tables.
  std::uint64_t checksum() const;

 private:
  static constexpr std::uint64_t kLow = 0xffffffffU;

  struct Column {
    std::uint32_t own;    // of 2^32
    std::uint32_t other;  // its own number if the column is not shared
  };

  std::vector<Column> columns_;
};

}  // namespace adapm
