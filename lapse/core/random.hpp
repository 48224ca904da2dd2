// Random numbers: by position, for values that every rank must compute alike, and in sequence, for a worker's
// own use.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "lapse/core/types.hpp"

namespace lapse {

// The output function of SplitMix64 (Steele, Lea and Flood 2014): a bijection in which each input bit changes
// about half of the output bits.
constexpr std::uint64_t mix_bits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

inline constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15U;  // 2^64 / golden ratio, odd.

// Random numbers that are a pure function of seed, key and index: a parameter's initial value depends neither
// on the number of ranks, nor on the rank that computes it, nor on time. Any thread may use it.
class PositionalRandom {
 public:
  constexpr explicit PositionalRandom(std::uint64_t seed) : seed_(mix_bits(seed + kGoldenGamma)) {}

  constexpr std::uint64_t bits(Key key, std::uint64_t index) const {
    const std::uint64_t row = mix_bits(seed_ ^ (key.value() + 1) * kGoldenGamma);
    return mix_bits(row + (index + 1) * kGoldenGamma);
  }

  // In [0, 1), a multiple of 2^-53.
  constexpr double uniform(Key key, std::uint64_t index) const { return to_unit_interval(bits(key, index)); }

  // Standard normal, by the Box-Muller transform of the numbers 2 index and 2 index + 1. Equal on ranks with
  // the same mathematical library.
  double normal(Key key, std::uint64_t index) const {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(key, 2 * index)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(key, 2 * index + 1));
  }

  static constexpr double to_unit_interval(std::uint64_t bits) {
    return static_cast<double>(bits >> 11U) * 0x1.0p-53;
  }

 private:
  std::uint64_t seed_;
};

// xoshiro256** 1.0 (Blackman and Vigna 2018): 32 bytes of state, period 2^256 - 1. Satisfies
// UniformRandomBitGenerator. Not thread-safe: use one engine per worker.
class RandomEngine {
 public:
  using result_type = std::uint64_t;

  // Engines with different streams of one seed are independent for all practical purposes.
  constexpr explicit RandomEngine(std::uint64_t seed, std::uint64_t stream = 0) {
    const PositionalRandom random(seed);
    for (std::uint64_t i = 0; i < state_.size(); ++i) state_[i] = random.bits(Key{stream}, i);
  }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  constexpr result_type operator()() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // In [0, 1).
  constexpr double uniform() { return PositionalRandom::to_unit_interval((*this)()); }

  // In [0, bound), bound > 0: by multiplication (Lemire 2019) without rejection; the probabilities deviate
  // from equal ones by less than bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) {
    // The upper half of the 128-bit product, from 32-bit halves.
    const std::uint64_t bits = (*this)();
    const std::uint64_t low = (bits & 0xffffffffU) * (bound & 0xffffffffU);
    const std::uint64_t middle = (bits >> 32U) * (bound & 0xffffffffU) + (low >> 32U);
    const std::uint64_t other = (bits & 0xffffffffU) * (bound >> 32U) + (middle & 0xffffffffU);
    return (bits >> 32U) * (bound >> 32U) + (middle >> 32U) + (other >> 32U);
  }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace lapse
