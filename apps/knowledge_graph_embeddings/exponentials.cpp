// Compiled without contraction of products and sums, so that every instruction set gives the same bits.
#include "apps/knowledge_graph_embeddings/exponentials.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace lapse::apps {

namespace {

constexpr std::size_t kLanes = 16;
using Lanes = std::array<float, kLanes>;

// exp(x) = 2^n exp(r) with n = round(x / log 2) and |r| <= log(2) / 2; exp(r) by its Taylor series, whose
// next term is below 2^-27. Adding kRound leaves the integer n in the lowest bits of the sum. log 2 is
// subtracted in two parts; n times the first, of 12 bits, is exact.
inline float exponential(float x) {
  constexpr float kRound = 0x1.8p23F;
  constexpr float kLog2High = 0x1.62ep-1F;
  constexpr float kLog2Low = static_cast<float>(std::numbers::ln2 - double{kLog2High});
  constexpr float kInverseLog2 = static_cast<float>(1 / std::numbers::ln2);
  constexpr float kMin = -87;  // Normal numbers have exponents of at least -126.
  x = x < kMin ? kMin : x;
  const float rounded = x * kInverseLog2 + kRound;
  const float n = rounded - kRound;
  const float r = (x - n * kLog2High) - n * kLog2Low;
  float series = 1.0F / 5040;
  series = series * r + 1.0F / 720;
  series = series * r + 1.0F / 120;
  series = series * r + 1.0F / 24;
  series = series * r + 1.0F / 6;
  series = series * r + 1.0F / 2;
  series = series * r + 1.0F;
  series = series * r + 1.0F;
  const std::uint32_t exponent = std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(kRound);
  return series * std::bit_cast<float>((exponent << 23U) + std::bit_cast<std::uint32_t>(1.0F));
}

template <class Combine>
inline float combine_lanes(Lanes& lanes, const Combine& combine) {
  for (std::size_t half = kLanes / 2; half != 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] = combine(lanes[lane], lanes[lane + half]);
  }
  return lanes[0];
}

inline float larger(float a, float b) {
  return b > a ? b : a;
}

inline float largest_of(const float* numbers, std::size_t count) {
  Lanes lanes;
  lanes.fill(-std::numeric_limits<float>::infinity());
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = larger(lanes[lane], numbers[i + lane]);
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) lanes[lane] = larger(lanes[lane], numbers[i]);
  return combine_lanes(lanes, larger);
}

inline float exponentiate_all(float* numbers, std::size_t count, float shift) {
  Lanes lanes{};
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      numbers[i + lane] = exponential(numbers[i + lane] - shift);
      lanes[lane] += numbers[i + lane];
    }
  }
  for (std::size_t lane = 0; i < count; ++i, ++lane) {
    numbers[i] = exponential(numbers[i] - shift);
    lanes[lane] += numbers[i];
  }
  return combine_lanes(lanes, [](float a, float b) { return a + b; });
}

// The loops are compiled for each instruction set, like those of lapse/store/update_rules/kernels.cpp.
#if defined(__GNUC__) && defined(__x86_64__)
[[gnu::target("avx2"), gnu::noinline]] float largest_avx2(const float* numbers, std::size_t count) {
  return largest_of(numbers, count);
}
[[gnu::target("avx2"), gnu::noinline]] float exponentiate_avx2(float* numbers, std::size_t count,
                                                               float shift) {
  return exponentiate_all(numbers, count, shift);
}
[[gnu::target("avx512f,avx512vl,avx512dq,prefer-vector-width=512"), gnu::noinline]] float largest_avx512(
    const float* numbers, std::size_t count) {
  return largest_of(numbers, count);
}
[[gnu::target("avx512f,avx512vl,avx512dq,prefer-vector-width=512"), gnu::noinline]] float exponentiate_avx512(
    float* numbers, std::size_t count, float shift) {
  return exponentiate_all(numbers, count, shift);
}
#endif

}  // namespace

float largest(std::span<const float> numbers, Isa isa) {
#if defined(__GNUC__) && defined(__x86_64__)
  if (isa == Isa::avx512) return largest_avx512(numbers.data(), numbers.size());
  if (isa == Isa::avx2) return largest_avx2(numbers.data(), numbers.size());
#endif
  static_cast<void>(isa);
  return largest_of(numbers.data(), numbers.size());
}

float exponentiate(std::span<float> numbers, float shift, Isa isa) {
#if defined(__GNUC__) && defined(__x86_64__)
  if (isa == Isa::avx512) return exponentiate_avx512(numbers.data(), numbers.size(), shift);
  if (isa == Isa::avx2) return exponentiate_avx2(numbers.data(), numbers.size(), shift);
#endif
  static_cast<void>(isa);
  return exponentiate_all(numbers.data(), numbers.size(), shift);
}

}  // namespace lapse::apps
