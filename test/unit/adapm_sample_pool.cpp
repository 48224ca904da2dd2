// Pools of keys: their effect on the distribution, and when their keys are announced.
#include "adapm/sampling/sample_pool.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "adapm/sampling/distinct_draws.hpp"
#include "test/support/catch.hpp"
#include "test/unit/adapm_draws.hpp"

using namespace adapm;
using adapm::test::all_different;
using adapm::test::KeyCounts;
using adapm::test::KeyList;
using adapm::test::zipf;
using lapse::Clock;
using lapse::Key;
using lapse::RandomEngine;

namespace {

Sampling pools(std::uint32_t keys, std::uint32_t uses, bool with_replacement) {
  return {.scheme = SamplingScheme::pool,
          .with_replacement = with_replacement,
          .postpone = false,
          .pool_keys = keys,
          .pool_uses = uses,
          .seed = 0};
}

struct Announced {
  KeyList keys;
  Clock start;
  Clock end;
};

// Takes samples of successive key lists, and records what is announced.
class PoolUser {
 public:
  PoolUser(const Distribution& distribution, const Sampling& sampling, std::uint64_t seed)
      : pool_(distribution, sampling) {
    pool_.restart(seed);
  }

  KeyList take(std::size_t keys, std::int64_t start = 0, std::int64_t end = 1) {
    KeyList drawn;
    distinct_.clear();
    pool_.take(keys, Clock(start), Clock(end), drawn, distinct_,
               [&](std::span<const Key> all, Clock from, Clock to) {
                 announced.push_back({KeyList(all.begin(), all.end()), from, to});
               });
    return drawn;
  }
  SamplePool& pool() { return pool_; }

  std::vector<Announced> announced;

 private:
  SamplePool pool_;
  DistinctDraws distinct_;
};

}  // namespace

TEST_CASE("Each key of a pool is used so many times, once in each pass") {
  const auto distribution = Distribution::uniform({Key(0), Key(1'000'000)});
  PoolUser user(*distribution, pools(40, 5, false), 3);
  for (int pool = 0; pool < 3; ++pool) {
    std::set<KeyList> passes;
    KeyList first;
    for (int pass = 0; pass < 5; ++pass) {
      KeyList keys = user.take(40);
      passes.insert(keys);
      std::ranges::sort(keys);
      if (pass == 0) first = keys;
      CHECK(keys == first);
    }
    CHECK(passes.size() == 5);  // in different orders
  }
  CHECK(user.announced.size() == 3);
}

TEST_CASE("The scheme pool keeps the shares of keys, and repeats keys within a pool") {
  constexpr std::uint32_t kKeys = 100;
  constexpr std::uint32_t kUses = 8;
  const auto distribution = zipf(500);
  const auto expected = distribution->probabilities();
  double match = 0;  // probability that two independent draws are equal
  for (const auto& one : expected) match += one.probability * one.probability;

  // The first pass of each pool consists of independent draws.
  KeyCounts first;
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    first.add(PoolUser(*distribution, pools(kKeys, kUses, true), seed).take(kKeys));
  CHECK(first.chi_squared(expected).fits());

  PoolUser user(*distribution, pools(kKeys, kUses, true), 5);
  KeyList keys;
  while (keys.size() < 800'000) {
    const KeyList some = user.take(37);
    keys.insert(keys.end(), some.begin(), some.end());
  }
  KeyCounts counts;
  counts.add(keys);
  // There are 1/kUses as many independent draws as uses, so chi-squared is kUses times as large.
  const auto fit = counts.chi_squared(expected);
  const double degrees = static_cast<double>(expected.size()) - 1;
  INFO("chi-squared " << fit.statistic << " for " << degrees << " degrees of freedom");
  CHECK(fit.statistic > 0.7 * kUses * degrees);
  CHECK(fit.statistic < 1.3 * kUses * degrees);
  CHECK(counts.total_variation(expected) < 0.03);

  // How often keys at a distance are equal: beyond a pool like independent draws, within a pool more often.
  const auto equal_at = [&](std::size_t lag) {
    double equal = 0;
    for (std::size_t i = lag; i < keys.size(); ++i) equal += keys[i] == keys[i - lag] ? 1 : 0;
    return equal / static_cast<double>(keys.size() - lag);
  };
  CHECK(equal_at(kKeys * kUses) == Approx(match).epsilon(0.1));
  CHECK(equal_at(3 * kKeys * kUses + 11) == Approx(match).epsilon(0.1));
  // The same one of the pool's kKeys entries, in the 7 of 8 passes that have a previous one.
  const double within = match + (1 - match) / kKeys * (kUses - 1) / kUses;
  CHECK(equal_at(kKeys) == Approx(within).epsilon(0.1));
  CHECK(equal_at(1) < within);
}

TEST_CASE("Without replacement the keys of a sample from pools are different") {
  const auto distribution = zipf(60);
  for (const std::size_t keys : {1, 7, 30, 40}) {
    PoolUser user(*distribution, pools(40, 3, false), 9);
    for (int i = 0; i < 500; ++i) {
      const KeyList drawn = user.take(keys);
      CHECK(drawn.size() == keys);
      CHECK(all_different(drawn));
    }
  }
}

TEST_CASE("What comes from pools depends on the seed alone") {
  const auto distribution = zipf(200);
  PoolUser a(*distribution, pools(20, 4, true), 9);
  PoolUser b(*distribution, pools(20, 4, true), 9);
  PoolUser c(*distribution, pools(20, 4, true), 10);
  KeyList from_a = a.take(1000, 0, 1);
  KeyList from_b;
  for (int i = 0; i < 100; ++i) {
    const KeyList some = b.take(10, 7 * i, 20 * i);
    from_b.insert(from_b.end(), some.begin(), some.end());
  }
  CHECK(from_a == from_b);
  CHECK(from_a != c.take(1000));
  a.take(7);
  a.pool().restart(9);
  CHECK(a.take(1000) == from_b);
}

TEST_CASE("A pool is announced for about as long as those before were in use, whatever came first") {
  const auto distribution = Distribution::uniform({Key(0), Key(100'000)});
  struct First {
    std::size_t keys;
    std::int64_t clocks;
  };
  for (const First& first : {First{1, 1}, First{50, 1000}}) {
    PoolUser user(*distribution, pools(250, 16, true), 9);
    user.take(first.keys, 0, 1);
    // 4000 uses of keys are 80 clocks.
    for (std::int64_t clock = first.clocks; clock < first.clocks + 1000; ++clock)
      user.take(50, clock, clock + 1);
    CHECK(user.announced.size() >= 12);
    for (const Announced& one : std::span(user.announced).subspan(4)) {
      INFO(first.keys << " keys and " << first.clocks << " clocks first: from " << one.start.value());
      CHECK(one.end.value() - one.start.value() <= 110);
    }
  }
}

TEST_CASE("Every key from a pool is announced for the clocks of its sample, in few intents") {
  const auto distribution = Distribution::uniform({Key(0), Key(100'000)});
  for (const bool wide : {false, true}) {
    PoolUser user(*distribution, pools(250, 16, true), 9);
    RandomEngine random(4);
    std::int64_t start = 0;
    std::vector<Announced> samples;
    for (int i = 0; i < 2000; ++i) {
      start += static_cast<std::int64_t>(random.below(4));
      const std::int64_t end = start + (wide ? 1 + static_cast<std::int64_t>(random.below(200)) : 1);
      samples.push_back({user.take(50, start, end), Clock(start), Clock(end)});
    }
    for (const Announced& sample : samples) {
      for (const Key key : sample.keys) {
        const bool covered = std::ranges::any_of(user.announced, [&](const Announced& one) {
          return one.start <= sample.start && sample.end <= one.end &&
                 std::ranges::find(one.keys, key) != one.keys.end();
        });
        if (!covered) FAIL("key " << key.value() << " is not announced from " << sample.start.value());
      }
    }
    // 2000 samples of 50 keys are 25 pools. Announcements last only slightly longer than the pools.
    INFO(user.announced.size() << " intents");
    CHECK(user.announced.size() <= 25 * 4);
    double announced = 0;
    for (const Announced& one : user.announced)
      announced += static_cast<double>(one.end.value() - one.start.value());
    CHECK(announced < 4.0 * static_cast<double>(start + (wide ? 25 * 200 : 0)));
  }
  // A sample that lasts until the last clock.
  PoolUser user(*distribution, pools(10, 2, true), 9);
  const std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < 9; ++i) user.take(3, i, last);
  CHECK(user.announced.back().end == Clock(last));
}
