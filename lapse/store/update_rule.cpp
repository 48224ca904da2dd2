#include "lapse/store/update_rule.hpp"

#include <cstring>

namespace lapse {

std::string_view update_rule_name(UpdateRuleKind kind) {
  switch (kind) {
    case UpdateRuleKind::add:
      return "add";
    case UpdateRuleKind::assign:
      return "assign";
  }
  return "unknown";
}

namespace {

template <Element T>
void apply_add(std::byte* value, const std::byte* update, std::size_t elements) {
  add_elements(reinterpret_cast<T*>(value), reinterpret_cast<const T*>(update), elements);
}

template <Element T>
void apply_assign(std::byte* value, const std::byte* update, std::size_t elements) {
  std::memcpy(value, update, elements * sizeof(T));
}

}  // namespace

UpdateRule::UpdateRule(UpdateRuleKind kind, ElementType type) : kind_(kind) {
  apply_ = visit_element(type, [kind](auto element) -> Apply {
    using T = decltype(element);
    return kind == UpdateRuleKind::add ? &apply_add<T> : &apply_assign<T>;
  });
}

}  // namespace lapse
