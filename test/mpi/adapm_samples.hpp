// A table and a distribution over its keys, for tests of samples.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "adapm/distribution.hpp"
#include "adapm/sampling_options.hpp"
#include "lapse/ps/table.hpp"

namespace adapm::test {

using lapse::Key;

inline constexpr std::uint64_t kSampledKeys = 120;
inline constexpr std::int64_t kBase = 1'000'000;  // more than the number of pushes to a key
using KeyList = std::vector<Key>;
using Values = std::vector<std::int64_t>;

// Distribution over a table whose keys are multiples of `stride`. It never draws every third key.
inline Distribution::Shared distribution_of(std::uint64_t stride) {
  std::vector<double> weights;
  KeyList keys;
  for (std::uint64_t i = 0; i < kSampledKeys; ++i) {
    weights.push_back(i % 3 == 0 ? 0 : 1 + static_cast<double>(i));
    keys.emplace_back(i * stride);
  }
  return stride == 1 ? Distribution::weighted(weights) : Distribution::weighted(keys, weights);
}

inline lapse::TableOptions sampled_table(bool sparse) {
  lapse::TableOptions options{
      .initialiser = lapse::Initialiser::function<std::int64_t>([](Key key, std::span<std::int64_t> value) {
        value[0] = static_cast<std::int64_t>(key.value()) * kBase;
      })};
  options.sparse = sparse;
  if (!sparse) options.keys = kSampledKeys;
  return options;
}

}  // namespace adapm::test
