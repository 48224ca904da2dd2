#include "lapse/store/update_rules/row_norm.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "test/support/catch.hpp"
#include "test/unit/store_kernel_numbers.hpp"

using lapse::RowNorm;
using lapse::test::kernel_numbers;
using lapse::test::kKernelOffsets;
using lapse::test::kMaxKernelLength;

namespace {

template <class T>
using Limits = std::numeric_limits<T>;

// Computed in a type with a wider exponent.
template <class T>
long double exact_norm(std::span<const T> row) {
  long double sum = 0;
  for (const T element : row) sum += static_cast<long double>(element) * static_cast<long double>(element);
  return std::sqrt(sum);
}

template <class T>
bool is_close(long double number, long double expected, double rounding_units) {
  const long double bound = rounding_units * static_cast<long double>(Limits<T>::epsilon()) * expected;
  return std::abs(number - expected) <= bound + static_cast<long double>(Limits<T>::denorm_min());
}

// Scales the row down to many smaller norms: the direction is unchanged, element by element.
template <class T>
void check_row(std::span<const T> row) {
  CAPTURE(row.size(), exact_norm(row));
  const RowNorm<T> norm(row);
  const long double exact = exact_norm(row);
  if (exact <= static_cast<long double>(Limits<double>::max())) {
    CHECK(is_close<T>(static_cast<long double>(norm.value()), exact, 20));
  } else {
    CHECK(norm.value() == Limits<double>::infinity());
  }
  for (const double to_norm : {0.75 * static_cast<double>(Limits<T>::max()), 3.0, 1e-3, 1e-30,
                               4.0 * static_cast<double>(Limits<T>::min())}) {
    if (static_cast<long double>(to_norm) >= exact) continue;
    CAPTURE(to_norm);
    std::vector<T> scaled(row.size());
    norm.scale_to(to_norm, row, scaled.data());
    bool close = true;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const long double expected =
          static_cast<long double>(row[i]) * static_cast<long double>(to_norm) / exact;
      close &= is_close<T>(std::abs(static_cast<long double>(scaled[i])), std::abs(expected), 30);
      close &= scaled[i] == 0 || std::signbit(scaled[i]) == std::signbit(row[i]);
    }
    CHECK(close);
    // In place: identical bits.
    std::vector<T> itself(row.begin(), row.end());
    norm.scale_to(to_norm, itself, itself.data());
    CHECK(itself == scaled);
  }
}

template <class T>
void check_rows() {
  for (std::size_t length = 1; length <= kMaxKernelLength; ++length) {
    const std::size_t offset = length % kKernelOffsets;
    std::vector<T> row = kernel_numbers<T>(length, offset + length);
    // From the smallest to the largest numbers of the type, whose squares underflow or overflow.
    for (const T factor : {T(1), Limits<T>::min() * T(1e4), Limits<T>::max() / T(1e4), T(1e-20), T(1e18)}) {
      std::vector<T> scaled = row;
      for (T& element : scaled) element *= factor;
      check_row(std::span<const T>(scaled).subspan(offset));
    }
  }
  check_row<T>(std::vector<T>{T(3), T(-4)});
  check_row<T>(std::vector<T>{Limits<T>::max(), Limits<T>::max(), Limits<T>::lowest()});
  check_row<T>(std::vector<T>{Limits<T>::denorm_min(), T(0)});
  check_row<T>(std::vector<T>{Limits<T>::max(), Limits<T>::denorm_min()});
  CHECK(RowNorm<T>(std::vector<T>{T(3), T(-4)}).value() == 5);
  CHECK(RowNorm<T>(std::vector<T>{T(0), T(-0.0)}).value() == 0);
  CHECK(RowNorm<T>(std::span<const T>()).value() == 0);
}

}  // namespace

TEST_CASE("The norm of a row is right for all sizes of numbers, and rows are scaled down to a norm") {
  check_rows<float>();
  check_rows<double>();
}
