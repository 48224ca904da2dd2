// FTRL-Proximal: online learning whose weights are exactly 0 unless there is evidence for them.
#pragma once

#include <cmath>
#include <string>

#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/update_rules/optimisers.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// Ftrl as the library runs it: with its name, checks and initial state.
struct FtrlRule : Ftrl {
  using Parameters = Ftrl;

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
