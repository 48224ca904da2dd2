// The rows with the largest scores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/answers/question.hpp"
#include "apps/model_files/named_rows.hpp"

namespace lapse::apps {

// The `count` rows with the largest scores, the largest first, equal ones in the order of rows; without rows
// in `left_out`, which is in ascending order. Scores that are not numbers come last.
std::vector<Scored> best_rows(std::span<const double> scores, const RowNames& names, std::size_t count,
                              std::span<const std::uint32_t> left_out = {});

// The sum of products, in double precision.
double dot_of_rows(std::span<const float> left, std::span<const float> right);

// Compares rows by their cosine. Immutable; `rows` must outlive it.
class RowCosines {
 public:
  explicit RowCosines(const NamedRows& rows);

  // The cosine of each row with the vector; that of a vector of zeros is 0.
  std::vector<double> with(std::span<const float> vector) const;

 private:
  const NamedRows& rows_;
  std::vector<double> inverse_lengths_;  // of zeros: 0
};

}  // namespace lapse::apps
