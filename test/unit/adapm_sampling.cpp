// Draws without replacement, draws among local keys, and postponing, without a manager.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "adapm/sampling/distinct_draws.hpp"
#include "adapm/sampling/local_draws.hpp"
#include "adapm/sampling/prepared_keys.hpp"
#include "adapm/sampling/sampler_state.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/adapm_draws.hpp"

using namespace adapm;
using adapm::test::all_different;
using adapm::test::chi_squared_of_orders;
using adapm::test::KeyCounts;
using adapm::test::KeyList;
using adapm::test::orders;
using adapm::test::restricted;
using adapm::test::UsableIf;
using adapm::test::zipf;
using lapse::Key;
using lapse::RandomEngine;

// --- without replacement

TEST_CASE("Without replacement, all orders of keys have the probabilities of successive draws") {
  // In the second distribution one key has nearly all of the probability: the other keys are ordered.
  for (const std::vector<double>& weights :
       {std::vector<double>{4, 3, 2, 0, 1}, std::vector<double>{1e9, 3, 2, 0, 1},
        std::vector<double>{1, 1e9, 1e9, 2}}) {
    const auto distribution = Distribution::weighted(weights);
    for (std::size_t keys = 1; keys <= distribution->support(); ++keys) {
      const auto expected = orders(distribution->probabilities(), keys);
      RandomEngine random(17, keys);
      DistinctDraws draws;
      std::map<KeyList, double> counts;
      for (int i = 0; i < 20'000; ++i) {
        draws.clear();
        KeyList drawn;
        for (std::size_t j = 0; j < keys; ++j) drawn.push_back(draws.draw(*distribution, random));
        ++counts[drawn];
      }
      for (const auto& [order, count] : counts) REQUIRE(expected.contains(order));
      const auto fit = chi_squared_of_orders(counts, expected);
      INFO(keys << " keys, chi-squared " << fit.statistic << ", limit " << fit.limit);
      if (expected.size() > 1 && fit.limit > 0) CHECK(fit.fits());
    }
  }
}

TEST_CASE("The whole support can be drawn without replacement, and no more") {
  for (const auto& distribution : {zipf(1000), Distribution::log_uniform({Key(0), Key(1000)}),
                                   Distribution::uniform({Key(0), Key(1000)})}) {
    DistinctDraws draws;
    RandomEngine random(5);
    for (int repeat = 0; repeat < 2; ++repeat) {
      KeyList keys;
      for (int i = 0; i < 1000; ++i) keys.push_back(draws.draw(*distribution, random));
      CHECK(all_different(keys));
      CHECK_FALSE(draws.take(Key(500)));
      CHECK_THROWS_AS(draws.draw(*distribution, random), lapse::UsageError);
      draws.clear();
    }
  }
}

TEST_CASE("What draws without replacement need is freed when they end") {
  // One key has nearly all of the probability: the other keys are ordered.
  std::vector<double> weights(10'000, 1);
  weights[0] = 1e15;
  const auto distribution = Distribution::weighted(weights);
  constexpr std::size_t kLittle = 2000;
  RandomEngine random(3);
  PreparedKeys listed;
  listed.begin_list(3, false);
  listed.draw_list(*distribution, random, false);
  CHECK(all_different(listed.list()));
  CHECK(listed.distinct().memory_bytes() < kLittle);

  const Sampling sampling{.scheme = SamplingScheme::local,
                          .with_replacement = false,
                          .postpone = false,
                          .pool_keys = 3,
                          .pool_uses = 1,
                          .seed = 1};
  UsableIf nothing([](Key) { return false; });
  SampleStream stream(*distribution, sampling);
  const SampleStream::Owner owner{.phase = 0, .worker = 0};
  std::unique_ptr<PreparedKeys> sample = stream.next(owner).memory;
  KeyList keys(3);
  sample->begin_draws(3, random, false);
  sample->take(keys, *distribution, nothing);
  CHECK(all_different(keys));
  CHECK(sample->distinct().memory_bytes() > 16 * (weights.size() - 4));
  CHECK(sample->distinct().memory_bytes() < 16 * weights.size() + kLittle);
  const PreparedKeys* const before = sample.get();
  stream.give_back(std::move(sample));
  sample = stream.next(owner).memory;
  CHECK(sample.get() == before);
  CHECK(sample->distinct().memory_bytes() < kLittle);
}

// --- the scheme local

TEST_CASE("The scheme local draws usable keys with their probabilities among these") {
  const auto distribution = zipf(2000);
  for (const std::uint64_t part : {2, 10}) {
    const auto has = [part](Key key) { return key.value() % part == 1; };
    UsableIf usable(has);
    const auto expected = restricted(*distribution, has);
    LocalDraws local;
    RandomEngine random(3, part);
    KeyCounts counts;
    KeyList keys(37);
    for (int i = 0; i < 8000; ++i) {
      CHECK(local.draw(*distribution, random, usable, nullptr, keys) == 0);
      counts.add(keys);
    }
    const auto fit = counts.chi_squared(expected);
    INFO("1 of " << part << ": chi-squared " << fit.statistic << ", limit " << fit.limit);
    CHECK(fit.fits());
    // The missing probability is that of the keys that are not local.
    double missing = 1;
    for (const auto& one : distribution->probabilities()) missing -= has(one.key) ? one.probability : 0;
    CHECK(counts.total_variation(distribution->probabilities()) == Approx(missing).margin(0.01));
  }
}

TEST_CASE("Where nothing is local, the scheme local draws from the distribution, and soon gives up") {
  const auto distribution = zipf(300);
  UsableIf nothing([](Key) { return false; });
  RandomEngine random(3);
  KeyCounts counts;
  KeyList keys(100);
  for (int i = 0; i < 4000; ++i) {
    LocalDraws local;
    CHECK(local.draw(*distribution, random, nothing, nullptr, keys) == keys.size());
    counts.add(keys);
  }
  CHECK(counts.chi_squared(distribution->probabilities()).fits());
  CHECK(nothing.asked / 4000 < 512 + 4 * keys.size() + 32);
  // Some keys become local.
  UsableIf few([](Key key) { return key == Key(7); });
  LocalDraws local;
  std::size_t remote = 0;
  for (int i = 0; i < 100; ++i) remote += local.draw(*distribution, random, few, nullptr, keys);
  CHECK(remote < 1500);
  CHECK(remote > 0);
}

TEST_CASE("Without replacement the scheme local takes local keys first and then others") {
  const auto distribution = Distribution::uniform({Key(0), Key(50)});
  UsableIf usable([](Key key) { return key.value() < 20; });
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    PreparedKeys sample;
    sample.begin_draws(50, RandomEngine(seed), false);
    KeyList keys(50);
    std::size_t remote = 0;
    for (std::size_t at = 0; at < 50; at += 10)
      remote += sample.take(std::span(keys).subspan(at, 10), *distribution, usable).remote;
    CHECK(all_different(keys));
    CHECK(remote == 30);
    CHECK(sample.left() == 0);
  }
}

TEST_CASE("Without replacement a local key that comes after draws in vain is no remote draw") {
  const auto distribution = Distribution::weighted(std::vector<double>{1, 1, 1, 1e-9});
  UsableIf usable([](Key key) { return key == Key(3); });
  PreparedKeys sample;
  sample.begin_draws(4, RandomEngine(1), false);
  KeyList keys(4);
  CHECK(sample.take(keys, *distribution, usable).remote == 3);
  CHECK(all_different(keys));
}

// --- postponing

TEST_CASE("Postponed keys come after later ones of their sample, and none is lost") {
  const auto distribution = Distribution::uniform({Key(0), Key(1000)});
  UsableIf usable([](Key key) { return key.value() % 3 != 0; });
  for (const std::size_t at_once : {1, 7, 33, 90}) {
    PreparedKeys sample;
    for (int repeat = 0; repeat < 2; ++repeat) {
      sample.begin_list(90, true);
      for (std::uint64_t key = 0; key < 90; ++key) sample.list().emplace_back(key);
      KeyList keys(90);
      std::size_t postponed = 0;
      for (std::size_t at = 0; at < 90; at += at_once) {
        CHECK(sample.left() == 90 - at);
        postponed +=
            sample.take(std::span(keys).subspan(at, std::min(at_once, 90 - at)), *distribution, usable)
                .postponed;
      }
      CHECK(postponed == 30);
      CHECK(sample.left() == 0);
      for (std::size_t i = 0; i < 90; ++i) CHECK((keys[i].value() % 3 == 0) == (i >= 60));
      CHECK(all_different(keys));
    }
  }
  // Keys that became local meanwhile are used at their turn. Without the option the order is unchanged.
  PreparedKeys sample;
  bool open = false;
  UsableIf later([&open](Key key) { return open || key == Key(2); });
  for (const bool postpone : {true, false}) {
    open = false;
    sample.begin_list(4, postpone);
    for (std::uint64_t key = 0; key < 4; ++key) sample.list().emplace_back(key);
    KeyList keys(4);
    sample.take(std::span(keys).first(1), *distribution, later);
    open = true;
    sample.take(std::span(keys).subspan(1), *distribution, later);
    const KeyList expected =
        postpone ? KeyList{Key(2), Key(3), Key(0), Key(1)} : KeyList{Key(0), Key(1), Key(2), Key(3)};
    CHECK(keys == expected);
  }
}
