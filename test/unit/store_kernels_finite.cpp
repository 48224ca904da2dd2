#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
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
using Limits = std::numeric_limits<T>;

// The smallest and the largest finite numbers.
template <class T>
std::vector<T> extreme_numbers() {
  return {Limits<T>::max(),
          Limits<T>::lowest(),
          Limits<T>::min(),
          -Limits<T>::min(),
          Limits<T>::min() / 2,
          Limits<T>::denorm_min(),
          -Limits<T>::denorm_min(),
          T(0),
          -T(0)};
}

// Also NaNs with only the lowest bit, and with all bits.
template <class T>
std::vector<T> not_finite_numbers() {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const Bits infinity = std::bit_cast<Bits>(Limits<T>::infinity());
  return {Limits<T>::infinity(),
          -Limits<T>::infinity(),
          Limits<T>::quiet_NaN(),
          -Limits<T>::quiet_NaN(),
          std::bit_cast<T>(Bits(infinity + 1)),
          std::bit_cast<T>(~Bits(0))};
}

template <class T>
void check_finite(Isa isa) {
  const auto& kernels = kernels_for<T>(isa);
  const std::vector<T> extremes = extreme_numbers<T>();
  const std::vector<T> strange = not_finite_numbers<T>();
  for (std::size_t length = 0; length <= kMaxKernelLength; ++length) {
    const std::size_t offset = length % kKernelOffsets;
    CAPTURE(length);
    std::vector<T> numbers = kernel_numbers<T>(length, offset + length + kKernelOffsets);
    for (std::size_t i = 0; i < length; i += 2) numbers[offset + i] = extremes[i / 2 % extremes.size()];
    // Elements around the array do not count.
    for (std::size_t i = 0; i < offset; ++i) numbers[i] = Limits<T>::quiet_NaN();
    for (std::size_t i = 0; i < kKernelOffsets; ++i) numbers[offset + length + i] = Limits<T>::infinity();
    CHECK(kernels.all_finite(numbers.data() + offset, length));
    std::size_t unnoticed = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const T before = numbers[offset + i];
      numbers[offset + i] = strange[i % strange.size()];
      unnoticed += kernels.all_finite(numbers.data() + offset, length) ? 1 : 0;
      numbers[offset + i] = before;
    }
    CHECK(unnoticed == 0);
  }
  for (const T number : extremes) CHECK(kernels.all_finite(&number, 1));
  for (const T number : strange) CHECK_FALSE(kernels.all_finite(&number, 1));
  // Two carries do not cancel each other.
  const std::vector<T> two(2, Limits<T>::infinity());
  CHECK_FALSE(kernels.all_finite(two.data(), two.size()));
}

}  // namespace

TEST_CASE("Numbers that are not finite are noticed at every position, with every instruction set") {
  for (const Isa isa : kAllIsas) {
    if (!isa_available(isa)) continue;
    CAPTURE(lapse::isa_name(isa));
    check_finite<float>(isa);
    check_finite<double>(isa);
  }
  CHECK(kernels_for<std::int32_t>(Isa::portable).all_finite == nullptr);
}

TEST_CASE("Spans are asked whether all their numbers are finite") {
  std::vector<float> floats{1, 2, 3};
  CHECK(lapse::all_finite(floats));
  floats[2] = Limits<float>::infinity();
  CHECK_FALSE(lapse::all_finite(floats));
  CHECK(lapse::all_finite(std::span(floats).first(2)));
  CHECK(lapse::all_finite(std::span<const float>()));

  std::vector<double> doubles{1, Limits<double>::max()};
  CHECK(lapse::all_finite(doubles));
  doubles[0] = Limits<double>::quiet_NaN();
  CHECK_FALSE(lapse::all_finite(doubles));
  CHECK(lapse::all_finite(std::span<const double>()));
}
