// Division by a constant: multiplies instead of using the processor's division.
#pragma once

#include <bit>
#include <cstdint>

namespace lapse {

// Exact for all 64-bit numbers (Granlund and Montgomery 1994, figure 4.1). With l = ceil(log2(divisor)) and
// the multiplier m = floor(2^64 (2^l - divisor) / divisor) + 1, the quotient of n is (n + t) / 2^l, where t
// is the high half of the product m n. Half of n - t is added to t instead of n, as n + t may exceed 64 bits.
// Thread safety: any thread.
class InvariantDivisor {
 public:
  // Requires a nonzero divisor.
  constexpr explicit InvariantDivisor(std::uint64_t divisor) : divisor_(divisor) {
    const auto bits = static_cast<int>(std::bit_width(divisor - 1));
    const std::uint64_t power = bits == 64 ? 0 : std::uint64_t{1} << bits;
    multiplier_ = static_cast<std::uint64_t>((Wide{power - divisor} << 64U) / divisor) + 1;
    first_shift_ = bits == 0 ? 0 : 1;
    second_shift_ = bits == 0 ? 0 : bits - 1;
  }

  constexpr std::uint64_t divisor() const { return divisor_; }
  constexpr std::uint64_t quotient(std::uint64_t number) const {
    const auto high = static_cast<std::uint64_t>((Wide{multiplier_} * number) >> 64U);
    return (high + ((number - high) >> first_shift_)) >> second_shift_;
  }
  constexpr std::uint64_t remainder(std::uint64_t number) const {
    return number - quotient(number) * divisor_;
  }

 private:
  __extension__ using Wide = unsigned __int128;

  std::uint64_t divisor_;
  std::uint64_t multiplier_;
  int first_shift_;
  int second_shift_;
};

}  // namespace lapse
