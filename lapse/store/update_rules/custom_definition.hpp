// A rule of the application as a RuleDefinition.
#pragma once

#include <string>
#include <utility>

#include "lapse/store/update_rules/custom_rule.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

class CustomRuleDefinition final : public RuleDefinition, private CustomStateSize {
 public:
  explicit CustomRuleDefinition(CustomRuleFunctions functions) : functions_(std::move(functions)) {}

  UpdateRuleKind kind() const override { return UpdateRuleKind::custom; }
  std::string name() const override { return functions_.name; }
  std::string to_string() const override { return "custom(" + functions_.name + ")"; }
  Merge merge() const override { return functions_.merge; }
  StateSize state_size() const override { return {.custom = this}; }
  bool accepts_scale(ElementType) const override { return true; }
  void check(ElementType type) const override {
    if (type != functions_.type) wrong_element_type(to_string(), functions_.type, type);
  }

  RuleLoop loop(ElementType, Isa) const override { return functions_.apply; }
  const void* parameters() const override { return functions_.rule.get(); }
  void initialise(ElementType, std::byte* value, std::size_t elements) const override {
    functions_.initialise(functions_.rule.get(), value, elements);
  }
  void merge_gradients(std::byte* sum, std::size_t elements, std::size_t count) const override {
    if (functions_.merge_gradients != nullptr)
      functions_.merge_gradients(functions_.rule.get(), sum, elements, count);
  }

 private:
  std::size_t state_elements(std::size_t length) const override {
    return functions_.state_elements(functions_.rule.get(), length);
  }

  CustomRuleFunctions functions_;
};

}  // namespace lapse
