// An update rule for tests: pushes to replicas are merged as gradients, and all sums are exact.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse::test {

// value += scale * update. The rule is linear, so the sum of several pushes is one push.
template <Element T>
struct SummedGradients {
  std::string name() const { return "summed gradients"; }
  std::size_t state_elements(std::size_t) const { return 0; }
  void initialise(std::span<const T>, std::span<T>) const {}
  void apply(std::span<T> value, std::span<T>, std::span<const T> update, float scale) const {
    for (std::size_t i = 0; i < value.size(); ++i) value[i] += static_cast<T>(scale) * update[i];
  }
  Merge merge() const { return Merge::gradient; }
};

}  // namespace lapse::test
