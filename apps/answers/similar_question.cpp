#include "apps/answers/similar_question.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lapse::apps {

std::vector<Scored> SimilarQuestion::answer(std::span<const std::string_view> query) const {
  require_fields(query, fields());
  const auto row = static_cast<std::uint32_t>(rows_->names().find(query[0]));
  return best_rows(cosines_.with(rows_->row(row)), rows_->names(), count_, std::span(&row, 1));
}

std::vector<Scored> AnalogyQuestion::answer(std::span<const std::string_view> query) const {
  require_fields(query, fields());
  std::array<std::uint32_t, 3> rows{};
  std::ranges::transform(query, rows.begin(), [&](std::string_view name) {
    return static_cast<std::uint32_t>(rows_->names().find(name));
  });
  std::vector<double> sum(rows_->length());
  for (std::size_t term = 0; term < rows.size(); ++term) {
    const auto row = rows_->row(rows[term]);
    const double squares = dot_of_rows(row, row);
    const double factor = squares > 0 ? (term == 0 ? -1 : 1) / std::sqrt(squares) : 0;
    for (std::size_t k = 0; k < row.size(); ++k) sum[k] += factor * static_cast<double>(row[k]);
  }
  const std::vector<float> target(sum.begin(), sum.end());
  std::ranges::sort(rows);
  return best_rows(cosines_.with(target), rows_->names(), count_, rows);
}

}  // namespace lapse::apps
