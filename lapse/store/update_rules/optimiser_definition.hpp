// The library's rules for gradients as RuleDefinitions.
#pragma once

#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// `Rule`: the parameters with the rule's name, merge class, state, checks and initial state. The loops are
// among the kernels and take only the parameters.
template <class Rule>
class OptimiserDefinition final : public RuleDefinition {
 public:
  using Parameters = typename Rule::Parameters;

  // The loops over the elements of a value, and, if there are any, those over pushes to single elements.
  struct Loops {
    RuleLoop Kernels<float>::*values_float;
    RuleLoop Kernels<double>::*values_double;
    ElementLoop Kernels<float>::*elements_float = nullptr;
    ElementLoop Kernels<double>::*elements_double = nullptr;
  };

  OptimiserDefinition(const Parameters& parameters, const Loops& loops) : rule_{parameters}, loops_(loops) {}

  UpdateRuleKind kind() const override { return Rule::kKind; }
  std::string name() const override { return Rule::kName; }
  std::string to_string() const override { return rule_.to_string(); }
  Merge merge() const override { return Rule::kMerge; }
  StateSize state_size() const override { return Rule::kState; }
  bool accepts_scale(ElementType) const override { return true; }
  void check(ElementType type) const override { rule_.check(type); }

  RuleLoop loop(ElementType type, Isa isa) const override {
    return type == ElementType::float32 ? kernels_for<float>(isa).*loops_.values_float
                                        : kernels_for<double>(isa).*loops_.values_double;
  }
  ElementLoop element_loop(ElementType type) const override {
    if (loops_.elements_float == nullptr) return nullptr;
    return type == ElementType::float32 ? kernels<float>().*loops_.elements_float
                                        : kernels<double>().*loops_.elements_double;
  }
  const void* parameters() const override { return static_cast<const Parameters*>(&rule_); }
  void initialise(ElementType type, std::byte* value, std::size_t elements) const override {
    if (type == ElementType::float32) {
      rule_.initialise(reinterpret_cast<float*>(value), elements);
    } else {
      rule_.initialise(reinterpret_cast<double*>(value), elements);
    }
  }

 private:
  Rule rule_;
  Loops loops_;
};

}  // namespace lapse
