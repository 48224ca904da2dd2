#include "lapse/core/invariant_divisor.hpp"

#include <cstdint>
#include <limits>
#include <set>

#include "lapse/core/random.hpp"
#include "test/support/catch.hpp"

using lapse::InvariantDivisor;

namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

// Numbers near which an inexact quotient would differ: multiples of the divisor, powers of two, both ends.
std::set<std::uint64_t> edges_of(std::uint64_t divisor) {
  std::set<std::uint64_t> numbers;
  const auto add_around = [&](std::uint64_t number) {
    for (std::uint64_t distance = 0; distance < 3; ++distance) {
      numbers.insert(number + distance);  // May wrap to the other end.
      numbers.insert(number - distance);
    }
  };
  add_around(0);
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    add_around(power);
    add_around(kLargest / divisor / power * divisor);
    add_around(lapse::mix_bits(power + divisor) / divisor * divisor);
  }
  return numbers;
}

}  // namespace

TEST_CASE("An invariant divisor gives the quotients and remainders of the processor") {
  std::set<std::uint64_t> divisors;
  for (std::uint64_t divisor = 1; divisor <= 70; ++divisor) divisors.insert(divisor);
  for (int bit = 6; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    divisors.insert(
        {power - 1, power, power + 1, power + power / 3, (lapse::mix_bits(power) % power) + power});
  }
  divisors.insert({kLargest - 1, kLargest, kLargest / 2, 1'000'000'007, 10'000'000'000'000'000'000U});
  for (const std::uint64_t divisor : divisors) {
    const InvariantDivisor fast(divisor);
    REQUIRE(fast.divisor() == divisor);
    for (const std::uint64_t number : edges_of(divisor)) {
      if (fast.quotient(number) == number / divisor && fast.remainder(number) == number % divisor) continue;
      CAPTURE(number, divisor, fast.quotient(number), fast.remainder(number));
      FAIL("a wrong quotient or remainder");
    }
  }
}

TEST_CASE("An invariant divisor can be computed by the compiler") {
  constexpr InvariantDivisor kSeven(7);
  STATIC_REQUIRE(kSeven.quotient(kLargest) == kLargest / 7);
  STATIC_REQUIRE(kSeven.remainder(kLargest) == kLargest % 7);
}
