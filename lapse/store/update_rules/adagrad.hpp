// Adagrad: learning rates that fall with the squares of the gradients seen so far.
#pragma once

#include <algorithm>
#include <string>

#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/update_rules/optimisers.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// Adagrad as the library runs it: with its name, checks and initial state.
struct AdagradRule : Adagrad {
  using Parameters = Adagrad;

  static constexpr UpdateRuleKind kKind = UpdateRuleKind::adagrad;
  static constexpr const char* kName = "adagrad";
  static constexpr Merge kMerge = Merge::additive_slot;
  static constexpr StateSize kState{.per_element = 1};

  std::string to_string() const;
  void check(ElementType type) const;
  template <class T>
  void initialise(T* value, std::size_t elements) const {
    std::fill_n(value + elements, elements, static_cast<T>(initial_accumulator));
  }
};

// RowwiseAdagrad as the library runs it: with its name, checks and initial state.
struct RowwiseAdagradRule : RowwiseAdagrad {
  using Parameters = RowwiseAdagrad;

  static constexpr UpdateRuleKind kKind = UpdateRuleKind::rowwise_adagrad;
  static constexpr const char* kName = "rowwise_adagrad";
  static constexpr Merge kMerge = Merge::additive_slot;
  static constexpr StateSize kState{.per_value = 1};

  std::string to_string() const;
  void check(ElementType type) const;
  template <class T>
  void initialise(T* value, std::size_t elements) const {
    value[elements] = static_cast<T>(initial_accumulator);
  }
};

}  // namespace lapse
