// An update rule bound to an element type, for the hot path.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lapse/store/update_rules/kernels.hpp"
#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

// The caller needs no types; a call is one indirect call. Values change in place; their state directly
// follows: state_elements(elements) elements of the same type. The caller holds the key's latch, or no other
// thread sees the value. Exceptions of a custom rule propagate.
//
// Immutable: used by any thread.
class UpdateKernel {
 public:
  // Throws what rule.check(type) throws, and UsageError if the instruction set is not available.
  UpdateKernel(UpdateRule rule, ElementType type, Isa isa = best_isa());

  const UpdateRule& rule() const { return rule_; }
  UpdateRuleKind kind() const { return kind_; }
  bool accepts_scale() const { return accepts_scale_; }
  // The function that apply calls, and its first argument; valid during this object's lifetime.
  RuleLoop loop() const { return loop_; }
  const void* parameters() const { return parameters_; }

  // One push of `elements` elements. A scale other than 1 requires accepts_scale().
  void apply(std::byte* value, const std::byte* update, std::size_t elements, float scale = 1.0F) const {
    loop_(parameters_, value, update, elements, scale);
  }

  // Whether pushes to single elements are possible.
  bool is_elementwise() const { return element_loop_ != nullptr; }
  // Pushes to single elements of a value of `length` elements, in their order. Requires is_elementwise().
  void apply_elements(std::byte* value, std::size_t length, const std::uint32_t* indices,
                      const std::byte* updates, std::size_t count, float scale = 1.0F) const {
    element_loop_(parameters_, value, length, indices, updates, count, scale);
  }

  // Turns the sum of `count` gradients, in place, into the update of one push for all of them.
  void merge_gradients(std::byte* sum, std::size_t elements, std::size_t count) const;

  // Writes the state of a value that was just initialised or set.
  void initialise(std::byte* value, std::size_t elements) const {
    if (has_state_) initialise_state(value, elements);
  }

 private:
  void initialise_state(std::byte* value, std::size_t elements) const;

  UpdateRule rule_;
  ElementType type_;
  UpdateRuleKind kind_;
  bool accepts_scale_;
  bool has_state_;
  RuleLoop loop_;
  ElementLoop element_loop_;  // null if the rule has none
  const void* parameters_;
};

}  // namespace lapse
