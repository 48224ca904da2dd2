// Arrays for the tests of kernels: numbers, lengths and offsets.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"

namespace lapse::test {

inline constexpr std::size_t kMaxKernelLength = 130;
// Elements before an array, so that its alignment is only that of an element.
inline constexpr std::size_t kKernelOffsets = 5;

// Numbers of different sizes and signs; large ones for integers, so that products overflow.
template <class T>
std::vector<T> kernel_numbers(std::uint64_t seed, std::size_t count) {
  const PositionalRandom random(seed);
  std::vector<T> result(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double exponent = random.uniform(Key(1), i) * 6 - 3;
    const double number = (random.uniform(Key(0), i) - 0.5) * std::pow(10, exponent);
    result[i] = static_cast<T>(std::is_integral_v<T> ? number * 1e6 : number);
  }
  return result;
}

}  // namespace lapse::test
