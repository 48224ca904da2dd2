#include "apps/report/principal_components.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/report/symmetric_matrix.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

// The rows without the mean of each column.
std::vector<double> centred_rows(std::span<const float> values, std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  std::vector<double> means(columns);
  for (std::size_t i = 0; i < values.size(); ++i) means[i % columns] += static_cast<double>(values[i]);
  std::vector<double> centred(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    centred[i] = static_cast<double>(values[i]) - means[i % columns] / static_cast<double>(rows);
  return centred;
}

// The products of all pairs of columns.
SymmetricMatrix column_products(const std::vector<double>& centred, std::size_t columns) {
  SymmetricMatrix products{columns, std::vector<double>(columns * columns)};
  for (auto row = centred.begin(); row != centred.end(); row += static_cast<std::ptrdiff_t>(columns)) {
    for (std::size_t i = 0; i < columns; ++i) {
      const double factor = row[static_cast<std::ptrdiff_t>(i)];
      for (std::size_t j = 0; j <= i; ++j) products.at(i, j) += factor * row[static_cast<std::ptrdiff_t>(j)];
    }
  }
  for (std::size_t i = 0; i < columns; ++i)
    for (std::size_t j = 0; j < i; ++j) products.at(j, i) = products.at(i, j);
  return products;
}

std::vector<double> transposed(const std::vector<double>& values, std::size_t columns) {
  const std::size_t rows = values.size() / columns;
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) result[i % columns * rows + i / columns] = values[i];
  return result;
}

// Of the component `c` of `count`: the size of its largest coordinate becomes that of a positive one.
void fix_sign(std::vector<double>& coordinates, std::size_t c, std::size_t count) {
  double largest = 0;
  for (std::size_t i = c; i < coordinates.size(); i += count)
    if (std::abs(coordinates[i]) > std::abs(largest)) largest = coordinates[i];
  if (largest >= 0) return;
  for (std::size_t i = c; i < coordinates.size(); i += count) coordinates[i] = -coordinates[i];
}

}  // namespace

PrincipalComponents principal_components(std::span<const float> values, std::size_t columns,
                                         std::size_t count) {
  const std::size_t rows = columns == 0 ? 0 : values.size() / columns;
  PrincipalComponents result{.shares = std::vector<double>(count),
                             .coordinates = std::vector<double>(rows * count)};
  const bool by_rows = rows < columns;
  const std::size_t side = std::min(rows, columns);
  if (side == 0) return result;
  if (side > kMaxComponentSides) {
    throw ConfigurationError(
        fmt::format("components of {} rows of {} numbers: one of both is to be at most {}", rows, columns,
                    kMaxComponentSides));
  }
  const std::vector<double> centred = centred_rows(values, columns);
  SymmetricMatrix products =
      by_rows ? column_products(transposed(centred, columns), rows) : column_products(centred, columns);
  double variance = 0;
  for (std::size_t i = 0; i < side; ++i) variance += products.at(i, i);
  if (variance <= 0) return result;
  const EigenPairs pairs = largest_eigen_pairs(std::move(products), count);
  for (std::size_t c = 0; c < pairs.values.size(); ++c) {
    const double value = std::max(0.0, pairs.values[c]);
    result.shares[c] = value / variance;
    for (std::size_t row = 0; row < rows; ++row) {
      double& coordinate = result.coordinates[row * count + c];
      if (by_rows) {
        coordinate = pairs.vectors[c][row] * std::sqrt(value);
      } else {
        for (std::size_t k = 0; k < columns; ++k)
          coordinate += centred[row * columns + k] * pairs.vectors[c][k];
      }
    }
    fix_sign(result.coordinates, c, count);
  }
  return result;
}

}  // namespace lapse::apps
