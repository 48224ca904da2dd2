#include "apps/answers/best_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace lapse::apps {

namespace {

double inverse_length(std::span<const float> row) {
  const double squares = dot_of_rows(row, row);
  return squares > 0 ? 1 / std::sqrt(squares) : 0;
}

}  // namespace

double dot_of_rows(std::span<const float> left, std::span<const float> right) {
  constexpr std::size_t kLanes = 8;  // independent sums, which fit into vector registers
  std::array<double, kLanes> sums{};
  std::size_t k = 0;
  for (; k + kLanes <= left.size(); k += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      sums[lane] += static_cast<double>(left[k + lane]) * static_cast<double>(right[k + lane]);
  }
  for (std::size_t lane = 0; k < left.size(); ++k, ++lane)
    sums[lane] += static_cast<double>(left[k]) * static_cast<double>(right[k]);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

std::vector<Scored> best_rows(std::span<const double> scores, const RowNames& names, std::size_t count,
                              std::span<const std::uint32_t> left_out) {
  const auto is_before = [&](std::uint32_t left, std::uint32_t right) {
    const bool is_number = !std::isnan(scores[left]);
    if (is_number != !std::isnan(scores[right])) return is_number;
    if (is_number && scores[left] != scores[right]) return scores[left] > scores[right];
    return left < right;
  };
  std::vector<std::uint32_t> rows;
  rows.reserve(scores.size());
  for (std::uint32_t row = 0; row < scores.size(); ++row) {
    while (!left_out.empty() && left_out.front() < row) left_out = left_out.subspan(1);
    if (left_out.empty() || left_out.front() != row) rows.push_back(row);
  }
  const std::size_t answers = std::min(count, rows.size());
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(answers);
  std::ranges::partial_sort(rows, end, is_before);
  std::vector<Scored> best;
  best.reserve(answers);
  for (auto row = rows.begin(); row != end; ++row) best.push_back({names.name(*row), scores[*row]});
  return best;
}

RowCosines::RowCosines(const NamedRows& rows) : rows_(rows) {
  inverse_lengths_.reserve(rows.size());
  for (std::size_t row = 0; row < rows.size(); ++row)
    inverse_lengths_.push_back(inverse_length(rows.row(row)));
}

std::vector<double> RowCosines::with(std::span<const float> vector) const {
  const double own = inverse_length(vector);
  std::vector<double> scores(rows_.size());
  for (std::size_t row = 0; row < scores.size(); ++row)
    scores[row] = dot_of_rows(vector, rows_.row(row)) * own * inverse_lengths_[row];
  return scores;
}

}  // namespace lapse::apps
