// The interface of an update rule.
#pragma once

#include <cstddef>
#include <string>

#include "lapse/store/update_rules/kernels.hpp"
#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/element_type.hpp"
#include "lapse/store/values/state_size.hpp"

namespace lapse {

// A rule with its parameters; immutable, used by any thread. Users hold an UpdateRule.
class RuleDefinition {
 public:
  virtual ~RuleDefinition() = default;

  virtual UpdateRuleKind kind() const = 0;
  virtual std::string name() const = 0;
  // Name and parameters in full precision: equal texts mean equal rules.
  virtual std::string to_string() const = 0;
  virtual Merge merge() const = 0;
  virtual StateSize state_size() const = 0;
  virtual bool accepts_scale(ElementType type) const = 0;
  // Throws ConfigurationError if the rule cannot work on elements of this type.
  virtual void check(ElementType type) const = 0;

  // The loop over the elements of one value, and its first argument.
  virtual RuleLoop loop(ElementType type, Isa isa) const = 0;
  virtual const void* parameters() const = 0;
  // The loop over pushes to single elements, with the same first argument; null if an element's new value or
  // state depends on more than that element, or if pushes to single elements make no sense.
  virtual ElementLoop element_loop(ElementType /*type*/) const { return nullptr; }
  // Writes the state that belongs to a value before its first push.
  virtual void initialise(ElementType type, std::byte* value, std::size_t elements) const = 0;
  // Turns the sum of `count` gradients into the update of the one push that stands for all of them (merge
  // class gradient). The library's rules use the sum itself.
  virtual void merge_gradients(std::byte* /*sum*/, std::size_t /*elements*/, std::size_t /*count*/) const {}

 protected:
  // Throws ConfigurationError.
  [[noreturn]] static void wrong_element_type(const std::string& rule, ElementType expected,
                                              ElementType given);
};

}  // namespace lapse
