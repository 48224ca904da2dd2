// Distributions over keys: draws match them, and invalid ones are refused.
#include "adapm/distribution.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "adapm/alias_table.hpp"
#include "lapse/core/error.hpp"
#include "test/support/catch.hpp"
#include "test/unit/adapm_draws.hpp"

using namespace adapm;
using adapm::test::KeyCounts;
using adapm::test::KeyList;
using Catch::Matchers::Contains;
using lapse::Key;
using lapse::RandomEngine;
using lapse::UsageError;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

KeyCounts count(const Distribution& distribution, std::size_t draws, std::uint64_t seed = 1) {
  RandomEngine random(seed);
  KeyList keys(draws);
  distribution.draw(random, keys);
  KeyCounts counts;
  counts.add(keys);
  return counts;
}

double sum(const std::vector<Distribution::KeyProbability>& all) {
  double sum = 0;
  for (const auto& one : all) sum += one.probability;
  return sum;
}

std::vector<double> zipf_weights(std::size_t count) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < count; ++i) weights.push_back(std::pow(1.0 + static_cast<double>(i), -1.1));
  return weights;
}

}  // namespace

TEST_CASE("Draws of every distribution fit its probabilities") {
  std::vector<std::uint64_t> counts(500);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = i % 7 == 0 ? 0 : i * i;
  const auto uniform = Distribution::uniform({Key(1000), Key(1700)});
  const auto log_uniform = Distribution::log_uniform({Key(10), Key(5010)});
  const auto frequent = Distribution::by_frequency(counts, 0.75, Key(3));
  const auto weighted = Distribution::weighted(zipf_weights(10'000));
  const auto sparse = Distribution::weighted(KeyList{Key(~std::uint64_t{0}), Key(5), Key(1'000'000'007)},
                                             std::vector<double>{1, 2, 3});
  for (const auto& distribution : {uniform, log_uniform, frequent, weighted, sparse}) {
    INFO(distribution->to_text());
    const auto expected = distribution->probabilities();
    CHECK(expected.size() == distribution->support());
    CHECK(sum(expected) == Approx(1).epsilon(1e-9));
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto fit = count(*distribution, 400'000, seed).chi_squared(expected);
      INFO("chi-squared " << fit.statistic << ", limit " << fit.limit);
      CHECK(fit.fits());
    }
  }
  // A slightly different distribution does not match: the check can fail.
  CHECK_FALSE(count(*Distribution::uniform({Key(1000), Key(1690)}), 400'000)
                  .chi_squared(uniform->probabilities())
                  .fits());
  CHECK_FALSE(count(*Distribution::by_frequency(counts, 0.7, Key(3)), 1'000'000)
                  .chi_squared(frequent->probabilities())
                  .fits());
}

TEST_CASE("Probabilities are those asked for") {
  const std::vector<std::uint64_t> counts{0, 1, 16, 81, 0};
  const auto frequent = Distribution::by_frequency(counts, 0.75, Key(10));  // 1, 8, 27
  CHECK(frequent->support() == 3);
  CHECK(frequent->first_key() == Key(11));
  CHECK(frequent->last_key() == Key(13));
  const auto expected = frequent->probabilities();
  REQUIRE(expected.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(expected[i].key == Key(11 + i));
    CHECK(expected[i].probability == Approx(std::vector<double>{1, 8, 27}[i] / 36).epsilon(1e-8));
  }
  const auto log_uniform = Distribution::log_uniform({Key(0), Key(3)})->probabilities();
  for (std::size_t i = 0; i < 3; ++i) {
    const double k = static_cast<double>(i);
    CHECK(log_uniform[i].probability == Approx(std::log((k + 2) / (k + 1)) / std::log(4)));
  }
  // With exponent 0, all keys that occur are equally likely; a negative exponent prefers rare keys.
  CHECK(Distribution::by_frequency(counts, 0)->probabilities()[2].probability == Approx(1.0 / 3));
  CHECK(Distribution::by_frequency(counts, -1)->probabilities()[0].probability ==
        Approx(1 / (1 + 1. / 16 + 1. / 81)));
}

TEST_CASE("Extreme weights are drawn as far as 32 bits of a column go, and weight 0 never is") {
  const double largest = std::numeric_limits<double>::max();
  const auto large =
      Distribution::weighted(std::vector<double>{largest, largest, 0, largest})->probabilities();
  REQUIRE(large.size() == 3);
  for (const auto& one : large) CHECK(one.probability == Approx(1.0 / 3).epsilon(1e-8));
  // The smallest possible share of a column.
  const auto tiny = Distribution::weighted(std::vector<double>{1, 1e-300, 0, 1})->probabilities();
  REQUIRE(tiny.size() == 3);
  CHECK(tiny[1].probability == Approx(std::pow(2.0, -34)));
  const auto one = Distribution::weighted(std::vector<double>{0, 0, 1e-310, 0});
  RandomEngine random(3);
  for (int i = 0; i < 1000; ++i) CHECK(one->draw(random) == Key(2));
  CHECK(one->support() == 1);
  // Sums of weights that are not sums of powers of 2 leave rounding errors in the last columns.
  for (std::size_t size = 1; size < 300; ++size) {
    std::vector<double> weights(size, 0.1);
    for (std::size_t i = 0; i < size; i += 3) weights[i] = 0;
    weights.back() = 0.3;
    const auto distribution = Distribution::weighted(weights);
    for (const auto& [key, probability] : distribution->probabilities()) CHECK(weights[key.index()] > 0);
  }
}

TEST_CASE("Draws depend on the engine alone, and one or many at a time are the same") {
  for (const auto& distribution :
       {Distribution::uniform({Key(5), Key(50)}), Distribution::log_uniform({Key(5), Key(50)}),
        Distribution::weighted(zipf_weights(45), Key(5))}) {
    RandomEngine one(7, 3);
    RandomEngine many(7, 3);
    KeyList keys(100);
    distribution->draw(many, keys);
    for (const Key key : keys) {
      CHECK(distribution->draw(one) == key);
      CHECK(key >= distribution->first_key());
      CHECK(key <= distribution->last_key());
    }
    CHECK(one() == many());
  }
}

TEST_CASE("Distributions over very many keys stay in their range") {
  const Key last(~std::uint64_t{0} - 1);
  RandomEngine random(11);
  for (const auto& distribution : {Distribution::uniform({Key(5), Key(last.value() + 1)}),
                                   Distribution::log_uniform({Key(5), Key(last.value() + 1)})}) {
    CHECK(distribution->support() == last.value() - 4);
    for (int i = 0; i < 10'000; ++i) {
      const Key key = distribution->draw(random);
      CHECK(key >= Key(5));
      CHECK(key <= last);
    }
  }
}

TEST_CASE("Memory of a distribution: 8 bytes for each weight, and 8 for each key that is listed") {
  const auto of_range = Distribution::weighted(zipf_weights(100'000));
  CHECK(of_range->memory_bytes() >= 800'000);
  CHECK(of_range->memory_bytes() < 801'000);
  KeyList keys;
  for (std::uint64_t i = 0; i < 1000; ++i) keys.emplace_back(i * 1'000'003);
  const auto listed = Distribution::weighted(keys, zipf_weights(1000));
  CHECK(listed->memory_bytes() >= 16'000);
  CHECK(listed->memory_bytes() < 17'000);
  CHECK(listed->last_key() == Key(999'002'997));
  const auto some =
      Distribution::weighted(KeyList{Key(9), Key(4), Key(7), Key(5)}, std::vector<double>{0, 0, 2, 1});
  CHECK(some->first_key() == Key(5));
  CHECK(some->last_key() == Key(7));
  CHECK(Distribution::uniform({Key(0), Key(1'000'000'000)})->memory_bytes() < 1000);
}

TEST_CASE("Equal distributions have equal texts, and others have other texts") {
  const auto weights = zipf_weights(100);
  auto changed = weights;
  changed[50] *= 1.001;
  const std::string text = Distribution::weighted(weights)->to_text();
  CHECK(text == Distribution::weighted(weights)->to_text());
  CHECK(text != Distribution::weighted(changed)->to_text());
  CHECK(text != Distribution::weighted(weights, Key(1))->to_text());
  CHECK(Distribution::uniform({Key(0), Key(5)})->to_text() !=
        Distribution::uniform({Key(0), Key(6)})->to_text());
  CHECK(Distribution::uniform({Key(0), Key(5)})->to_text() !=
        Distribution::log_uniform({Key(0), Key(5)})->to_text());
  const std::vector<double> two{1, 2};
  CHECK(Distribution::weighted(KeyList{Key(1), Key(2)}, two)->to_text() !=
        Distribution::weighted(KeyList{Key(2), Key(1)}, two)->to_text());
}

TEST_CASE("What is no distribution is refused") {
  const auto refuses = [](auto&& make, const char* a, const char* b) {
    CHECK_THROWS_AS(make(), UsageError);
    CHECK_THROWS_WITH(make(), Contains(a) && Contains(b));
  };
  using Weights = std::vector<double>;
  const auto weighted = [](Weights weights) { return [weights] { Distribution::weighted(weights); }; };
  refuses([] { Distribution::uniform({Key(3), Key(3)}); }, "from 3 to before 3", "at least one key");
  refuses([] { Distribution::log_uniform({Key(4), Key(3)}); }, "from 4 to before 3", "at least one key");
  refuses(weighted({}), "without weights", "at least one");
  refuses(weighted({1, -0.5, 1}), "weight 1", "-0.5");
  refuses(weighted({1, 1, std::nan("")}), "weight 2", "nan");
  refuses(weighted({kInfinite}), "weight 0", "inf");
  refuses(weighted({0, 0, 0}), "all 3 weights", "above 0");
  refuses(
      [] {
        Distribution::by_frequency(std::vector<std::uint64_t>{0, 0}, 0.75);
      },
      "all 2 weights", "above 0");
  refuses([] { Distribution::by_frequency(std::vector<std::uint64_t>{1}, std::nan("")); }, "nan", "finite");
  refuses([] { Distribution::by_frequency(std::vector<std::uint64_t>{~std::uint64_t{0}}, 1000); }, "weight 0",
          "inf");
  refuses([] { Distribution::by_frequency({}, 0.75); }, "without weights", "at least one");
  refuses(
      [] {
        Distribution::weighted(KeyList{Key(1), Key(2)}, Weights{1});
      },
      "2 keys with 1 weights", "as many");
  refuses(
      [] {
        Distribution::weighted(KeyList{Key(1), Key(2), Key(1)}, Weights{1, 1, 1});
      },
      "key 1", "several");
  refuses(
      [] {
        Distribution::weighted(Weights{1, 1}, Key(~std::uint64_t{0}));
      },
      "2 weights", "not so many keys");
}
