// The kernels for replicas, compared with loops in this file.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "lapse/store/update_rules/kernels.hpp"
#include "test/support/catch.hpp"
#include "test/unit/store_kernel_numbers.hpp"

using lapse::Isa;
using lapse::isa_available;
using lapse::kAllIsas;
using lapse::kernels_for;
using lapse::test::kernel_numbers;
using lapse::test::kKernelOffsets;
using lapse::test::kMaxKernelLength;

namespace {

template <class T>
T total_of(T a, T b) {
  lapse::add_elements(&a, &b, 1);
  return a;
}

// Pairs of numbers for value and base, including equal ones, zeros of both signs and, for floating point,
// infinities and NaNs.
template <class T>
void mix_in_equal_and_special(std::vector<T>& value, std::vector<T>& base) {
  using Limits = std::numeric_limits<T>;
  const std::vector<T> special{T{0},
                               static_cast<T>(-0.0),
                               Limits::infinity(),
                               -Limits::infinity(),
                               Limits::max(),
                               Limits::lowest(),
                               Limits::min(),
                               Limits::quiet_NaN(),
                               Limits::denorm_min()};
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (i % 3 == 0) base[i] = value[i];
    if (i % 5 == 0) value[i] = special[i / 5 % special.size()];
    if (i % 15 == 10) base[i] = special[i / 15 % special.size()];
    if (i % 10 == 5) base[i] = value[i];
  }
}

template <class T>
bool equal_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}
template <class T>
T difference(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Unsigned>(a) - static_cast<Unsigned>(b));
  } else {
    return a - b;
  }
}
template <class T>
bool same_elements(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
// Which NaN an operation returns differs between machines.
template <class T>
bool same_numbers(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](T x, T y) {
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(x) && std::isnan(y)) return true;
    }
    return equal_bits(x, y);
  });
}

template <class T>
void check_copies(Isa isa) {
  const auto& kernels = kernels_for<T>(isa);
  const auto at = [](std::vector<T>& v, std::size_t offset) {
    return reinterpret_cast<std::byte*>(v.data() + offset);
  };
  for (std::size_t length = 0; length <= kMaxKernelLength; ++length) {
    const std::size_t offset = length % kKernelOffsets;
    const std::size_t count = offset + length + kKernelOffsets;
    const std::vector<T> main = kernel_numbers<T>(3 * length, count);
    std::vector<T> value = kernel_numbers<T>(3 * length + 1, count);
    std::vector<T> base = kernel_numbers<T>(3 * length + 2, count);
    mix_in_equal_and_special(value, base);
    CAPTURE(length);

    std::vector<T> out = main;
    std::vector<T> expected_out = main;
    std::vector<T> expected_base = base;
    std::vector<T> expected_value = value;
    std::vector<T> expected_base_of_main = base;
    bool differs = false;
    for (std::size_t i = offset; i < offset + length; ++i) {
      const bool equal = equal_bits(value[i], base[i]);
      differs = differs || !equal;
      expected_out[i] = equal ? T{0} : difference(value[i], base[i]);
      expected_value[i] = equal ? main[i] : total_of(main[i], difference(value[i], base[i]));
      expected_base[i] = value[i];
      expected_base_of_main[i] = main[i];
    }
    std::vector<T> v = value;
    std::vector<T> b = base;
    CHECK(kernels.difference_rebase(at(v, offset), at(b, offset), at(out, offset), length) == differs);
    CHECK(same_elements(v, value));
    CHECK(same_elements(b, expected_base));
    CHECK(same_numbers(out, expected_out));
    // Now they are equal, also where they are NaN.
    CHECK_FALSE(kernels.difference_rebase(at(v, offset), at(b, offset), at(out, offset), length));
    CHECK(std::all_of(out.begin() + static_cast<std::ptrdiff_t>(offset), out.end() - kKernelOffsets,
                      [](T x) { return equal_bits(x, T{0}); }));

    v = value;
    b = base;
    std::vector<T> m = main;
    CHECK(kernels.merge_refresh(at(v, offset), at(b, offset), at(m, offset), length) == differs);
    CHECK(same_numbers(v, expected_value));
    CHECK(same_elements(b, expected_base_of_main));
    CHECK(same_elements(m, main));
    v = b;
    CHECK_FALSE(kernels.merge_refresh(at(v, offset), at(b, offset), at(m, offset), length));
  }
}

}  // namespace

TEST_CASE("Kernels take differences of copies and merge refreshes, with every instruction set") {
  for (const Isa isa : kAllIsas) {
    if (!isa_available(isa)) continue;
    CAPTURE(lapse::isa_name(isa));
    check_copies<float>(isa);
    check_copies<double>(isa);
    check_copies<std::int32_t>(isa);
    check_copies<std::int64_t>(isa);
  }
}

TEST_CASE("A single differing element is noticed at any position") {
  for (const Isa isa : kAllIsas) {
    if (!isa_available(isa)) continue;
    const auto& kernels = kernels_for<double>(isa);
    for (std::size_t i = 0; i < 40; ++i) {
      std::vector<double> value(40, 1.0);
      std::vector<double> base = value;
      std::vector<double> out(40);
      value[i] = 1.5;
      const auto bytes = [](std::vector<double>& v) { return reinterpret_cast<std::byte*>(v.data()); };
      CHECK(kernels.difference_rebase(bytes(value), bytes(base), bytes(out), 40));
      CHECK(out[i] == 0.5);
      CHECK(base == value);
    }
  }
}
