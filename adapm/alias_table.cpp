#include "adapm/alias_table.hpp"

#include <algorithm>

namespace adapm {

namespace {

constexpr double kWhole = 4294967296.0;  // a column

// A share of a column, at least 2^-32, so that every number with a positive weight can be drawn.
std::uint32_t share(double part) {
  return static_cast<std::uint32_t>(std::clamp(part * kWhole, 1.0, kWhole - 1));
}

}  // namespace

AliasTable::AliasTable(std::span<const double> weights) : columns_(weights.size()) {
  // Divide first, so that the sum of large weights is finite.
  const double largest = *std::ranges::max_element(weights);
  double sum = 0;
  for (const double weight : weights) sum += weight / largest;
  const double scale = static_cast<double>(weights.size()) / sum;

  // The part of a column that each number still needs. Numbers below one column are stacked from the front,
  // the others from the back.
  std::vector<double> left(weights.size());
  std::vector<std::uint32_t> numbers(weights.size());
  std::size_t small = 0;
  std::size_t large = weights.size();
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left[i] = weights[i] / largest * scale;
    numbers[left[i] < 1 ? small++ : --large] = static_cast<std::uint32_t>(i);
  }
  while (small > 0 && large < numbers.size()) {
    const std::uint32_t low = numbers[--small];
    const std::uint32_t high = numbers[large];
    columns_[low] = {weights[low] > 0 ? share(left[low]) : 0, high};
    left[high] -= 1 - left[low];
    if (left[high] >= 1) continue;
    ++large;
    numbers[small++] = high;
  }
  // The rest are whole columns, up to rounding errors; none belongs to a number without weight.
  const auto fill = [&](std::uint32_t number) { columns_[number] = {0, number}; };
  for (std::size_t i = 0; i < small; ++i) fill(numbers[i]);
  for (std::size_t i = large; i < numbers.size(); ++i) fill(numbers[i]);
}

std::vector<double> AliasTable::probabilities() const {
  std::vector<double> probabilities(columns_.size(), 0);
  const double column = 1 / static_cast<double>(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const double own = static_cast<double>(columns_[i].own) / kWhole;
    probabilities[i] += own * column;
    probabilities[columns_[i].other] += (1 - own) * column;
  }
  return probabilities;
}

std::uint64_t AliasTable::checksum() const {
  std::uint64_t sum = columns_.size();
  for (const Column& column : columns_)
    sum = lapse::mix_bits(sum ^ (std::uint64_t{column.own} << 32U | column.other));
  return sum;
}

}  // namespace adapm
