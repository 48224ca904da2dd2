// Stochastic gradient descent.
#pragma once

#include <string>

#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

//     value -= learning_rate * (g + l2 * value)
//
// for the gradient g (Robbins & Monro 1951, with L2 regularisation). No state.
struct Sgd {
  double learning_rate = 0.01;
  double l2 = 0;  // strength of the L2 regularisation

  static constexpr UpdateRuleKind kKind = UpdateRuleKind::sgd;
  static constexpr const char* kName = "sgd";
  static constexpr Merge kMerge = Merge::additive_slot;
  static constexpr StateSize kState{};

  std::string to_string() const;
  void check(ElementType type) const;
  template <class T>
  void initialise(T* /*value*/, std::size_t /*elements*/) const {}
};

}  // namespace lapse
