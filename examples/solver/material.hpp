// The conductivity of a crystal: a law that takes long to evaluate.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace solver {

// The state that the law depends on, as one number: a temperature, in steps of 1 K, and a degree of impurity.
using State = std::uint64_t;
constexpr State kImpurities = 4;

inline State state_of(double temperature, std::uint64_t cell) {
  return static_cast<State>(std::lround(temperature)) * kImpurities + cell % kImpurities;
}

// Callaway's model: heat carried by the crystal's vibrations, by frequency, until they meet an impurity or
// each other.
inline double evaluate_law(State state) {
  const State kelvins = state / kImpurities;
  const double temperature = static_cast<double>(kelvins) / 640;  // 1: all vibrations are excited
  const double impurity = static_cast<double>(state % kImpurities);
  constexpr int kFrequencies = 10'000;
  double sum = 0;
  for (int i = 1; i <= kFrequencies; ++i) {
    const double frequency = static_cast<double>(i) / kFrequencies;
    const double energy = frequency / temperature;
    const double heat = energy * energy * std::exp(energy) / std::pow(std::expm1(energy), 2);
    const double collisions = 0.02 + impurity * std::pow(frequency, 4) +
                              std::pow(frequency, 2) * temperature * std::exp(-1 / (3 * temperature));
    sum += heat * std::pow(frequency, 2) / collisions;
  }
  return sum / kFrequencies;
}

}  // namespace solver
