// Stochastic gradient descent.
#pragma once

#include <string>

#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/update_rules/optimisers.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// Sgd as the library runs it: with its name, checks and initial state.
struct SgdRule : Sgd {
  using Parameters = Sgd;

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
