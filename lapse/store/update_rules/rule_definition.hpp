// What an update rule has to tell about itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "lapse/store/element_type.hpp"
#include "lapse/store/kernels.hpp"
#include "lapse/store/state_size.hpp"

namespace lapse {

enum class UpdateRuleKind : std::uint8_t { add, assign, sgd, adagrad, rowwise_adagrad, adam, ftrl, custom };

// How pushes to copies of one value come together at its owner.
enum class Merge : std::uint8_t {
  // A holder applies the rule to its copy; the difference of the whole slot travels and the owner adds it.
  additive_slot,
  // Gradients are summed and travel with their count; the owner applies the rule once for the sum.
  gradient,
  // Pushes do not commute: such a table is never replicated.
  none,
};

// A rule with its parameters; immutable, used by any thread. UpdateRule is what users hold.
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
  // Throws ConfigurationError when the rule cannot work on elements of this type.
  virtual void check(ElementType type) const = 0;

  // The loop over the elements of one value, and its first argument.
  virtual RuleLoop loop(ElementType type, Isa isa) const = 0;
  virtual const void* parameters() const = 0;
  // Writes the state that belongs to a value which nobody has pushed to.
  virtual void initialise(ElementType type, std::byte* value, std::size_t elements) const = 0;

 protected:
  // Throws ConfigurationError.
  [[noreturn]] static void wrong_element_type(const std::string& rule, ElementType expected,
                                              ElementType given);
};

}  // namespace lapse
