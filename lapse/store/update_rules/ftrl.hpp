// FTRL-Proximal: online learning whose weights are exactly 0 where there is no evidence for them.
#pragma once

#include <cmath>
#include <string>

#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// For each element, with the gradient g:
//
//     sigma = (sqrt(n + g * g) - sqrt(n)) / alpha
//     z    += g - sigma * value
//     n    += g * g
//     value = 0                                                              where |z| <= l1
//     value = -(z - sign(z) * l1) / ((beta + sqrt(n)) / alpha + l2)          elsewhere
//
// McMahan et al., "Ad Click Prediction: a View from the Trenches", KDD 2013, algorithm 1. The learning rate
// of a step is alpha / (beta + sqrt(n)); a push's scale multiplies it by multiplying the g in z (not in n),
// which for l1 = l2 = 0 is the same thing.
//
// State: z for each element, then n for each. A value that was initialised or set to w has n = 0 and the z
// for which the last line gives w: -(w * (beta / alpha + l2) + sign(w) * l1), or 0 for w = 0. Rounding of z
// makes that exact up to about |z| times the rounding unit in (beta / alpha + l2) * w.
struct Ftrl {
  double alpha = 0.1;
  double beta = 1;
  double l1 = 0;
  double l2 = 0;

  static constexpr UpdateRuleKind kKind = UpdateRuleKind::ftrl;
  static constexpr const char* kName = "ftrl";
  static constexpr Merge kMerge = Merge::gradient;
  static constexpr StateSize kState{.per_element = 2};

  std::string to_string() const;
  void check(ElementType type) const;
  template <class T>
  void initialise(T* value, std::size_t elements) const {
    T* z = value + elements;
    T* n = z + elements;
    for (std::size_t i = 0; i < elements; ++i) {
      const double w = static_cast<double>(value[i]);
      z[i] = w == 0 ? T{0} : static_cast<T>(-(w * (beta / alpha + l2) + std::copysign(l1, w)));
      n[i] = T{0};
    }
  }
};

}  // namespace lapse
