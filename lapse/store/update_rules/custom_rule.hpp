// Update rules that users write.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "lapse/store/update_rules/merge.hpp"
#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// Requirements on a type R as an update rule for elements of type T. All functions are const and called by
// several threads at once, for different values. They run under the key's latch: they must not block and must
// not call the server. Exceptions of apply and initialise propagate to the caller; what they wrote before
// stays.
//
//     name()                              the rule with its parameters; compared across ranks
//     state_elements(length)              elements of state for a value of that length; always the same
//     initialise(value, state)            writes the whole state that belongs to a value which was just
//                                         initialised or set; the state's memory is undefined before
//     apply(value, state, update, scale)  one push; scale is the push's learning-rate scale, 1 by default
//     merge()                             optional: a Merge; without it Merge::gradient
//     merge(sum, count)                   optional, for Merge::gradient: turns the sum of gradients into the
//                                         update of the one apply that stands for all `count` of them;
//                                         without it, the sum is that update
template <class R, class T>
concept CustomRule = Element<T> && std::copy_constructible<R> &&
    requires(const R& rule, std::size_t length, std::span<T> value, std::span<T> state,
             std::span<const T> constant, float scale) {
  { rule.name() } -> std::convertible_to<std::string>;
  { rule.state_elements(length) } -> std::convertible_to<std::size_t>;
  rule.initialise(constant, state);
  rule.apply(value, state, constant, scale);
};

// A custom rule without its type, as the library calls it. The first argument is always `rule`; optimizer
// state follows the elements of the value.
struct CustomRuleFunctions {
  ElementType type = ElementType::float32;
  std::string name;
  Merge merge = Merge::gradient;
  std::shared_ptr<const void> rule;
  std::size_t (*state_elements)(const void* rule, std::size_t length) = nullptr;
  void (*initialise)(const void* rule, std::byte* value, std::size_t elements) = nullptr;
  void (*apply)(const void* rule, std::byte* value, const std::byte* update, std::size_t elements,
                float scale) = nullptr;
  // Null: the sum is used as it is.
  void (*merge_gradients)(const void* rule, std::byte* sum, std::size_t elements,
                          std::size_t count) = nullptr;
};

template <Element T, CustomRule<T> R>
CustomRuleFunctions custom_rule_functions(R rule) {
  static constexpr auto state_of = [](const R& self, T* value, std::size_t elements) {
    return std::span<T>(value + elements, static_cast<std::size_t>(self.state_elements(elements)));
  };
  CustomRuleFunctions functions;
  functions.type = element_type<T>();
  functions.name = rule.name();
  if constexpr (requires {
                  { rule.merge() } -> std::convertible_to<Merge>;
                }) {
    functions.merge = rule.merge();
  }
  functions.rule = std::make_shared<const R>(std::move(rule));
  functions.state_elements = [](const void* self, std::size_t length) -> std::size_t {
    return static_cast<const R*>(self)->state_elements(length);
  };
  functions.initialise = [](const void* self, std::byte* value, std::size_t elements) {
    const R& typed = *static_cast<const R*>(self);
    T* const begin = reinterpret_cast<T*>(value);
    typed.initialise(std::span<const T>(begin, elements), state_of(typed, begin, elements));
  };
  functions.apply = [](const void* self, std::byte* value, const std::byte* update, std::size_t elements,
                       float scale) {
    const R& typed = *static_cast<const R*>(self);
    T* const begin = reinterpret_cast<T*>(value);
    typed.apply(std::span<T>(begin, elements), state_of(typed, begin, elements),
                std::span<const T>(reinterpret_cast<const T*>(update), elements), scale);
  };
  if constexpr (requires(const R& typed, std::span<T> sum, std::size_t count) { typed.merge(sum, count); }) {
    functions.merge_gradients = [](const void* self, std::byte* sum, std::size_t elements,
                                   std::size_t count) {
      static_cast<const R*>(self)->merge(std::span<T>(reinterpret_cast<T*>(sum), elements), count);
    };
  }
  return functions;
}

template <Element T, class R>
UpdateRule UpdateRule::custom(R rule) {
  static_assert(CustomRule<R, T>, "what a rule must offer for elements of this type: see CustomRule");
  return from_functions(custom_rule_functions<T>(std::move(rule)));
}

}  // namespace lapse
