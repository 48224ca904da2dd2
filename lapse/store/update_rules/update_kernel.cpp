#include "lapse/store/update_rules/update_kernel.hpp"

#include <utility>

#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

namespace {

const RuleDefinition& checked(const UpdateRule& rule, ElementType type) {
  rule.check(type);
  return rule.definition();
}

}  // namespace

UpdateKernel::UpdateKernel(UpdateRule rule, ElementType type, Isa isa)
    : rule_(std::move(rule)),
      type_(type),
      kind_(rule_.kind()),
      accepts_scale_(rule_.accepts_scale(type)),
      has_state_(kind_ != UpdateRuleKind::add && kind_ != UpdateRuleKind::assign),
      loop_(checked(rule_, type).loop(type, isa)),
      element_loop_(rule_.definition().element_loop(type)),
      parameters_(rule_.definition().parameters()) {}

void UpdateKernel::merge_gradients(std::byte* sum, std::size_t elements, std::size_t count) const {
  rule_.definition().merge_gradients(sum, elements, count);
}

void UpdateKernel::initialise_state(std::byte* value, std::size_t elements) const {
  rule_.definition().initialise(type_, value, elements);
}

}  // namespace lapse
