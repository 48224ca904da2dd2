// Adam: steps from running means of the gradients and of their squares.
#pragma once

#include <algorithm>
#include <string>

#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// With the gradient g and t, the number of pushes to this value:
//
//     g      = g + l2 * value
//     t     += 1
//     m      = beta1 * m + (1 - beta1) * g
//     v      = beta2 * v + (1 - beta2) * g * g
//     value -= learning_rate * (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
//
// Kingma & Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1. State: m and v for each
// element, then t. In float, t stops at 2^24 pushes, the last number that float can count to; beta^t is 0
// long before for every beta up to 0.999997, so that the steps stay the same.
//
// A value that is pushed to rarely keeps its m and v meanwhile (they decay with its own pushes alone).
struct Adam {
  double learning_rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double l2 = 0;

  static constexpr UpdateRuleKind kKind = UpdateRuleKind::adam;
  static constexpr const char* kName = "adam";
  static constexpr Merge kMerge = Merge::gradient;
  static constexpr StateSize kState{.per_element = 2, .per_value = 1};

  std::string to_string() const;
  void check(ElementType type) const;
  template <class T>
  void initialise(T* value, std::size_t elements) const {
    std::fill_n(value + elements, kState.elements(elements), T{0});
  }
};

}  // namespace lapse
