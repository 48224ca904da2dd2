// Adam: steps from running means of the gradients and of their squares.
#pragma once

#include <algorithm>
#include <string>

#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/update_rules/optimisers.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// Adam as the library runs it: with its name, checks and initial state.
struct AdamRule : Adam {
  using Parameters = Adam;

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
