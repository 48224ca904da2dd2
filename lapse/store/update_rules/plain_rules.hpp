// The rules without parameters and state: add and assign.
#pragma once

#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// The common part of both: `loop` is the kernel of the rule.
template <UpdateRuleKind kind_of_rule>
class PlainDefinition final : public RuleDefinition {
 public:
  UpdateRuleKind kind() const override { return kind_of_rule; }
  std::string name() const override { return kAdd ? "add" : "assign"; }
  std::string to_string() const override { return name(); }
  Merge merge() const override { return kAdd ? Merge::additive_slot : Merge::none; }
  StateSize state_size() const override { return {}; }
  // Integers could not apply a scale exactly; for assign it has no meaning.
  bool accepts_scale(ElementType type) const override {
    return kAdd && (type == ElementType::float32 || type == ElementType::float64);
  }
  void check(ElementType) const override {}

  RuleLoop loop(ElementType type, Isa isa) const override {
    return visit_element(type, [isa](auto element) {
      const Kernels<decltype(element)>& kernels = kernels_for<decltype(element)>(isa);
      return kAdd ? kernels.add_rule : kernels.assign_rule;
    });
  }
  // The loops use no parameters.
  const void* parameters() const override { return this; }
  ElementLoop element_loop(ElementType type) const override {
    if (!kAdd) return nullptr;
    return visit_element(type, [](auto element) { return kernels<decltype(element)>().add_elements; });
  }
  void initialise(ElementType, std::byte*, std::size_t) const override {}

 private:
  static constexpr bool kAdd = kind_of_rule == UpdateRuleKind::add;
};

using AddDefinition = PlainDefinition<UpdateRuleKind::add>;
using AssignDefinition = PlainDefinition<UpdateRuleKind::assign>;

}  // namespace lapse
