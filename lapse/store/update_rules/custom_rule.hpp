// Update rules that users write.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "lapse/store/element_type.hpp"
#include "lapse/store/update_rules/rule_definition.hpp"

namespace lapse {

// What a type R must offer to be an update rule for elements of type T. All functions are const and called by
// several threads at once, for different values. They run under the key's latch: they must not block and must
// not call the server. What apply or initialise throws reaches the caller; what it wrote until then stays.
//
//     name()                              the rule with its parameters; compared across ranks
//     state_elements(length)              elements of state beside a value of that length; always the same
//     initialise(value, state)            writes the whole state that belongs to a value which was just
//                                         initialised or set; the state's memory is undefined before
//     apply(value, state, update, scale)  one push; scale is the push's learning-rate scale, 1 by default
//     merge()                             optional: a Merge; without it Merge::gradient
template <class R, class T>
concept CustomRule = Element<T> && std::copy_constructible<R> &&
    requires(const R& rule, std::size_t length, std::span<T> value, std::span<T> state,
             std::span<const T> constant, float scale) {
  { rule.name() } -> std::convertible_to<std::string>;
  { rule.state_elements(length) } -> std::convertible_to<std::size_t>;
  rule.initialise(constant, state);
  rule.apply(value, state, constant, scale);
};

// A custom rule behind the interface of all rules.
template <class R, Element T>
requires CustomRule<R, T>
class CustomRuleDefinition final : public RuleDefinition, private CustomStateSize {
 public:
  explicit CustomRuleDefinition(R rule) : rule_(std::move(rule)) {}

  UpdateRuleKind kind() const override { return UpdateRuleKind::custom; }
  std::string name() const override { return rule_.name(); }
  std::string to_string() const override { return "custom(" + std::string(rule_.name()) + ")"; }
  Merge merge() const override {
    if constexpr (requires {
                    { rule_.merge() } -> std::convertible_to<Merge>;
                  }) {
      return rule_.merge();
    } else {
      return Merge::gradient;
    }
  }
  StateSize state_size() const override { return {.custom = this}; }
  bool accepts_scale(ElementType) const override { return true; }
  void check(ElementType type) const override {
    if (type != element_type<T>()) wrong_element_type(to_string(), element_type<T>(), type);
  }

  RuleLoop loop(ElementType, Isa) const override {
    return
        [](const void* rule, std::byte* value, const std::byte* update, std::size_t elements, float scale) {
          const auto& self = *static_cast<const R*>(rule);
          T* const begin = reinterpret_cast<T*>(value);
          self.apply(std::span<T>(begin, elements), state_of(self, begin, elements),
                     std::span<const T>(reinterpret_cast<const T*>(update), elements), scale);
        };
  }
  const void* parameters() const override { return &rule_; }
  void initialise(ElementType, std::byte* value, std::size_t elements) const override {
    T* const begin = reinterpret_cast<T*>(value);
    rule_.initialise(std::span<const T>(begin, elements), state_of(rule_, begin, elements));
  }

 private:
  std::size_t state_elements(std::size_t length) const override { return rule_.state_elements(length); }
  static std::span<T> state_of(const R& rule, T* value, std::size_t elements) {
    return {value + elements, static_cast<std::size_t>(rule.state_elements(elements))};
  }

  R rule_;
};

}  // namespace lapse
