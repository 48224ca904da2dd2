// Measures how well draws match a distribution.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampling/usable_keys.hpp"
#include "lapse/core/types.hpp"

namespace adapm::test {

using KeyList = std::vector<lapse::Key>;

// The statistic of Pearson's chi-squared test, and the value that it exceeds with probability 1e-4 if the
// draws have these probabilities. Draws have a fixed seed, so a test that passes once always passes.
struct ChiSquared {
  double statistic = 0;
  double limit = 0;
  bool fits() const { return statistic < limit; }
};

// The quantile 1 - 1e-4, by the approximation of Wilson and Hilferty.
inline double chi_squared_limit(double degrees) {
  constexpr double kNormalQuantile = 3.719;
  const double part = 2 / (9 * degrees);
  return degrees * std::pow(1 - part + kNormalQuantile * std::sqrt(part), 3);
}

// Classes with less than 5 expected draws are merged with the next ones, as the test requires.
inline ChiSquared chi_squared(std::span<const double> counts, std::span<const double> probabilities) {
  double draws = 0;
  for (const double count : counts) draws += count;
  ChiSquared result;
  double classes = 0;
  double expected = 0;
  double counted = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    expected += draws * probabilities[i];
    counted += counts[i];
    if (expected < 5 && i + 1 < counts.size()) continue;
    if (expected > 0) {
      result.statistic += (counted - expected) * (counted - expected) / expected;
      ++classes;
    }
    expected = counted = 0;
  }
  result.limit = chi_squared_limit(classes - 1);
  return result;
}

// How often each key was drawn.
class KeyCounts {
 public:
  void add(lapse::Key key) { ++counts_[key]; }
  void add(std::span<const lapse::Key> keys) {
    for (const lapse::Key key : keys) add(key);
  }
  double draws() const {
    double sum = 0;
    for (const auto& [key, count] : counts_) sum += count;
    return sum;
  }
  double of(lapse::Key key) const {
    const auto found = counts_.find(key);
    return found == counts_.end() ? 0 : found->second;
  }

  // Keys outside the support make it infinite.
  ChiSquared chi_squared(const std::vector<Distribution::KeyProbability>& expected) const {
    std::vector<double> counts;
    std::vector<double> probabilities;
    double sum = 0;
    for (const auto& [key, probability] : expected) {
      counts.push_back(of(key));
      probabilities.push_back(probability);
      sum += counts.back();
    }
    ChiSquared result = test::chi_squared(counts, probabilities);
    if (sum != draws()) result.statistic = INFINITY;
    return result;
  }
  // Half the sum of the differences between shares and probabilities: 0 to 1.
  double total_variation(const std::vector<Distribution::KeyProbability>& expected) const {
    double difference = 0;
    double others = draws();
    for (const auto& [key, probability] : expected) {
      difference += std::abs(of(key) / draws() - probability);
      others -= of(key);
    }
    return (difference + others / draws()) / 2;
  }

 private:
  std::unordered_map<lapse::Key, double> counts_;
};

// The probabilities of the keys of a subset, given that all draws are from it.
template <class F>
std::vector<Distribution::KeyProbability> restricted(const Distribution& distribution, F&& has) {
  std::vector<Distribution::KeyProbability> part;
  double sum = 0;
  for (const auto& one : distribution.probabilities()) {
    if (!has(one.key)) continue;
    part.push_back(one);
    sum += one.probability;
  }
  for (auto& one : part) one.probability /= sum;
  return part;
}

// UsableKeys given by a predicate.
template <class F>
class UsableIf final : public UsableKeys {
 public:
  explicit UsableIf(F f) : f_(f) {}
  void find(std::span<const lapse::Key> keys, std::span<bool> usable) override {
    for (std::size_t i = 0; i < keys.size(); ++i) usable[i] = f_(keys[i]);
    asked += keys.size();
  }
  std::size_t asked = 0;

 private:
  F f_;
};

// The probabilities of all orders in which `keys` keys can be drawn without replacement. Each key is drawn
// with its probability among the remaining keys.
inline std::map<KeyList, double> orders(const std::vector<Distribution::KeyProbability>& all,
                                        std::size_t keys) {
  std::map<KeyList, double> result{{{}, 1.0}};
  for (; keys > 0; --keys) {
    std::map<KeyList, double> longer;
    for (const auto& [order, probability] : result) {
      double left = 1;
      const auto has = [&order = order](lapse::Key key) {
        return std::find(order.begin(), order.end(), key) != order.end();
      };
      for (const auto& one : all) left -= has(one.key) ? one.probability : 0;
      for (const auto& one : all) {
        if (has(one.key)) continue;
        KeyList next = order;
        next.push_back(one.key);
        longer[next] = probability * one.probability / left;
      }
    }
    result = std::move(longer);
  }
  return result;
}

inline ChiSquared chi_squared_of_orders(const std::map<KeyList, double>& counts,
                                        const std::map<KeyList, double>& expected) {
  std::vector<double> counted;
  std::vector<double> probabilities;
  for (const auto& [order, probability] : expected) {
    const auto found = counts.find(order);
    counted.push_back(found == counts.end() ? 0 : found->second);
    probabilities.push_back(probability);
  }
  return chi_squared(counted, probabilities);
}

// Consecutive keys from 0 on; the first ones are frequent.
inline Distribution::Shared zipf(std::size_t count) {
  std::vector<double> weights;
  for (std::size_t i = 0; i < count; ++i) weights.push_back(std::pow(1.0 + static_cast<double>(i), -0.8));
  return Distribution::weighted(weights);
}

inline bool all_different(KeyList keys) {
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) == keys.end();
}

}  // namespace adapm::test
