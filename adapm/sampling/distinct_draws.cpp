#include "adapm/sampling/distinct_draws.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lapse/core/error.hpp"

namespace adapm {

using lapse::Key;

namespace {

// For std::push_heap: the front of the heap is the last in this order.
constexpr auto kLater = [](const auto& a, const auto& b) { return a.time > b.time; };

}  // namespace

void DistinctDraws::clear() {
  taken_.clear();
  rest_ = std::vector<TimedKey>();  // `{}` would keep the memory
}

Key DistinctDraws::draw(const Distribution& distribution, lapse::RandomEngine& random) {
  if (taken() >= distribution.support()) {
    throw lapse::UsageError(fmt::format("all {} keys of a distribution have been drawn: expected fewer draws",
                                        distribution.support()));
  }
  if (rest_.empty()) {
    // Costs about as much as ordering the rest.
    const std::uint64_t attempts = std::max<std::uint64_t>(64, distribution.support());
    for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
      const Key key = distribution.draw(random);
      if (take(key)) return key;
    }
    order_rest(distribution, random);
  }
  for (;;) {
    std::ranges::pop_heap(rest_, kLater);
    const Key key = rest_.back().key;
    rest_.pop_back();
    if (take(key)) return key;
  }
}

void DistinctDraws::order_rest(const Distribution& distribution, lapse::RandomEngine& random) {
  std::vector<TimedKey> rest;
  rest.reserve(distribution.support() - taken());
  for (const auto& [key, probability] : distribution.probabilities()) {
    if (!taken_.contains(key)) rest.push_back({-std::log1p(-random.uniform()) / probability, key});
  }
  std::ranges::make_heap(rest, kLater);
  rest_ = std::move(rest);
}

}  // namespace adapm
