#include "lapse/protocol/table/remote_samples.hpp"

#include <array>
#include <vector>

#include "test/support/catch.hpp"

using lapse::RandomEngine;
using lapse::RemoteSamples;
using std::chrono::microseconds;

namespace {

// Samples at a time that the test sets.
struct Sampled {
  RemoteSamples samples;
  RemoteSamples::Clock::time_point time{microseconds(1)};
  RemoteSamples::Clock::duration cost{0};  // of asking once
  std::uint64_t accesses = 0;
  std::uint64_t weights = 0;
  std::uint64_t choices = 0;

  // Calls f(index, weight) for each choice.
  template <class F>
  void take(std::uint32_t count, F&& f) {
    const std::uint64_t before = accesses;
    samples.take(
        count, [&] { return time; },
        [&](std::uint32_t index, std::uint64_t weight) {
          REQUIRE(index < count);
          ++choices;
          weights += weight;
          CHECK(weights == before + index + 1);
          time += cost;
          f(index, weight);
        });
    accesses += count;
  }
  void take(std::uint32_t count) {
    take(count, [](std::uint32_t, std::uint64_t) {});
  }
};

}  // namespace

TEST_CASE("The weights of chosen accesses add up to all accesses, and the first are all chosen") {
  Sampled sampled;
  for (std::uint32_t count = 1; sampled.accesses < 64; ++count) sampled.take(count);
  CHECK(sampled.choices >= 64);
  RandomEngine random(5);
  for (int call = 0; call < 100'000; ++call) sampled.take(static_cast<std::uint32_t>(1 + random.below(40)));
  CHECK(sampled.choices > 1'500);
  CHECK(sampled.choices < 5'000);
}

TEST_CASE("Keys that a loop accesses in the same order are chosen equally often") {
  Sampled sampled;
  constexpr std::size_t kLoop = 1024;
  std::array<std::uint64_t, 4> weights{};  // by quarters of the loop
  for (int round = 0; round < 20'000; ++round)
    for (std::uint64_t& quarter : weights)
      sampled.take(kLoop / 4, [&](std::uint32_t, std::uint64_t weight) { quarter += weight; });
  const double mean = 20'000.0 * kLoop / 4;
  for (const std::uint64_t weight : weights) CHECK(static_cast<double>(weight) == Approx(mean).epsilon(0.1));
}

TEST_CASE(
    "All parts of long calls are chosen equally often, and short calls beside them as often as they have "
    "keys") {
  Sampled sampled;
  constexpr std::uint32_t kLong = 100'000;
  constexpr std::uint32_t kShort = 100;
  std::array<std::uint64_t, 4> weights{};
  std::uint64_t of_short = 0;
  constexpr int kRounds = 2'000;
  for (int round = 0; round < kRounds; ++round) {
    sampled.take(
        kLong, [&](std::uint32_t index, std::uint64_t weight) { weights.at(index / (kLong / 4)) += weight; });
    sampled.take(kShort, [&](std::uint32_t, std::uint64_t weight) { of_short += weight; });
  }
  for (const std::uint64_t weight : weights)
    CHECK(static_cast<double>(weight) == Approx(kRounds * kLong / 4.0).epsilon(0.1));
  CHECK(static_cast<double>(of_short) == Approx(kRounds * static_cast<double>(kShort)).epsilon(0.35));
}

TEST_CASE("Asking takes at most a hundredth of the time, and a millisecond") {
  Sampled sampled;
  sampled.cost = microseconds(100);
  const auto began = sampled.time;
  for (int call = 0; call < 100'000; ++call) {
    sampled.take(1);
    sampled.time += microseconds(10);
  }
  const auto asked = sampled.choices * sampled.cost;
  CHECK(asked <= (sampled.time - began) / 100 + microseconds(1'200));
  CHECK(asked >= (sampled.time - began) / 300);
}
