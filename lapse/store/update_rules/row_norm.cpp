// Compiled without contraction of products and sums, like the kernels.
#include "lapse/store/update_rules/row_norm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "lapse/store/update_rules/kernels.hpp"

namespace lapse {

namespace {

// A sum of squares from here on is exact up to rounding: vanished squares would not change it.
template <class T>
constexpr T kSmallestSum = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

}  // namespace

template <class T>
requires std::is_floating_point_v<T> RowNorm<T>::RowNorm(std::span<const T> row) {
  const T squares = dot(row, row);
  if (squares >= kSmallestSum<T> && squares <= std::numeric_limits<T>::max()) {
    largest_ = 1;
    ratio_ = std::sqrt(static_cast<double>(squares));
    return;
  }
  largest_ = 0;
  for (const T element : row) largest_ = std::max(largest_, std::abs(static_cast<double>(element)));
  double sum = 0;
  if (largest_ > 0) {
    for (const T element : row) {
      const double part = static_cast<double>(element) / largest_;
      sum += part * part;
    }
  }
  ratio_ = std::sqrt(sum);
}

template <class T>
requires std::is_floating_point_v<T>
void RowNorm<T>::scale_to(double norm, std::span<const T> row, T* to) const {
  const double factor = norm / ratio_;
  if (largest_ == 1 && factor >= static_cast<double>(std::numeric_limits<T>::min())) {
    const T rounded = static_cast<T>(factor);
    for (std::size_t i = 0; i < row.size(); ++i) to[i] = row[i] * rounded;
    return;
  }
  // Quotients of at most 1; none that matters vanishes.
  for (std::size_t i = 0; i < row.size(); ++i)
    to[i] = static_cast<T>(static_cast<double>(row[i]) / largest_ / ratio_ * norm);
}

template class RowNorm<float>;
template class RowNorm<double>;

}  // namespace lapse
