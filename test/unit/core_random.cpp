// Random numbers: reproducible, different where required, and distributed as documented.
#include "lapse/core/random.hpp"

#include <algorithm>
#include <random>
#include <unordered_set>
#include <vector>

#include "test/support/catch.hpp"

using lapse::Key;
using lapse::PositionalRandom;
using lapse::RandomEngine;

TEST_CASE("positional numbers are fixed for all time") {
  // Checkpoints and runs of different sizes depend on these numbers.
  CHECK(lapse::mix_bits(lapse::kGoldenGamma) ==
        0xe220a8397b1dcdafU);  // the first output of SplitMix64 with seed 0
  const PositionalRandom random(7);
  CHECK(random.bits(Key{3}, 5) == PositionalRandom(7).bits(Key{3}, 5));
  CHECK(random.normal(Key{3}, 5) == PositionalRandom(7).normal(Key{3}, 5));
}

TEST_CASE("seed, key and index all matter") {
  std::unordered_set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (std::uint64_t key = 0; key < 100; ++key) {
      for (std::uint64_t index = 0; index < 20; ++index)
        seen.insert(PositionalRandom(seed).bits(Key{key}, index));
    }
  }
  CHECK(seen.size() == 10 * 100 * 20);
}

TEST_CASE("positional numbers have the moments of their distribution") {
  constexpr std::uint64_t kKeys = 2000;
  constexpr std::uint64_t kLength = 50;
  constexpr double kCount = kKeys * kLength;
  const PositionalRandom random(1);
  double uniform_sum = 0;
  double normal_sum = 0;
  double normal_squares = 0;
  double neighbours = 0;  // product of adjacent values: indices must not be correlated
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    for (std::uint64_t index = 0; index < kLength; ++index) {
      const double uniform = random.uniform(Key{key}, index);
      if (uniform < 0 || uniform >= 1) FAIL("outside [0, 1)");
      uniform_sum += uniform;
      const double normal = random.normal(Key{key}, index);
      normal_sum += normal;
      normal_squares += normal * normal;
      neighbours += normal * random.normal(Key{key}, index + 1);
    }
  }
  // Five standard deviations of the mean of 100000 values.
  CHECK(uniform_sum / kCount == Approx(0.5).margin(0.0046));
  CHECK(normal_sum / kCount == Approx(0.0).margin(0.016));
  CHECK(normal_squares / kCount == Approx(1.0).margin(0.023));
  CHECK(neighbours / kCount == Approx(0.0).margin(0.016));
}

TEST_CASE("the engine is a generator of the standard library's kind") {
  STATIC_REQUIRE(std::uniform_random_bit_generator<RandomEngine>);
  std::vector<int> values{1, 2, 3, 4, 5, 6, 7, 8};
  std::shuffle(values.begin(), values.end(), RandomEngine(3));
  CHECK(std::is_permutation(values.begin(), values.end(), std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}.begin()));
}

TEST_CASE("engines repeat with their seed and differ with seed and stream") {
  RandomEngine a(1);
  RandomEngine b(1);
  RandomEngine other_seed(2);
  RandomEngine other_stream(1, 1);
  const std::uint64_t first = a();
  CHECK(first == b());
  CHECK(first != other_seed());
  CHECK(first != other_stream());
}

TEST_CASE("numbers below a bound are below it and all occur") {
  RandomEngine engine(5);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts.at(engine.below(7));
  for (const int count : counts) CHECK(std::abs(count - 10000) < 500);
  CHECK(engine.below(1) == 0);
  const std::uint64_t huge = std::uint64_t{1} << 63U;
  for (int i = 0; i < 100; ++i) CHECK(engine.below(huge) < huge);
}
