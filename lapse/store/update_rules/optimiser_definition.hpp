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

  OptimiserDefinition(const Parameters& parameters, RuleLoop Kernels<float>::*float_loop,
                      RuleLoop Kernels<double>::*double_loop)
      : rule_{parameters}, float_loop_(float_loop), double_loop_(double_loop) {}

  UpdateRuleKind kind() const override { return Rule::kKind; }
  std::string name() const override { return Rule::kName; }
  std::string to_string() const override { return rule_.to_string(); }
  Merge merge() const override { return Rule::kMerge; }
  StateSize state_size() const override { return Rule::kState; }
  bool accepts_scale(ElementType) const override { return true; }
  void check(ElementType type) const override { rule_.check(type); }

  RuleLoop loop(ElementType type, Isa isa) const override {
    return type == ElementType::float32 ? kernels_for<float>(isa).*float_loop_
                                        : kernels_for<double>(isa).*double_loop_;
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
  RuleLoop Kernels<float>::*float_loop_;
  RuleLoop Kernels<double>::*double_loop_;
};

}  // namespace lapse
