// The effect of a push on a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "lapse/core/export.hpp"
#include "lapse/store/update_rules/optimisers.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse {

class RuleDefinition;
struct CustomRuleFunctions;
enum class Merge : std::uint8_t;
struct StateSize;

enum class UpdateRuleKind : std::uint8_t { add, assign, sgd, adagrad, rowwise_adagrad, adam, ftrl, custom };

// The update rule of a table, as its user specifies it. Immutable; cheap to copy.
//
// For add and assign a push carries what is added or assigned; for the optimisers, which need float or
// double, it carries a gradient, and the value moves against it. A push may carry a scale, which multiplies
// the learning rate of that push (add: the update).
class LAPSE_EXPORT UpdateRule {
 public:
  // value += update; integers wrap around.
  static UpdateRule add();
  // value = update
  static UpdateRule assign();
  static UpdateRule sgd(const Sgd& parameters = {});
  static UpdateRule adagrad(const Adagrad& parameters = {});
  static UpdateRule rowwise_adagrad(const RowwiseAdagrad& parameters = {});
  static UpdateRule adam(const Adam& parameters = {});
  static UpdateRule ftrl(const Ftrl& parameters = {});
  // A user's own rule for elements of type T; see CustomRule in lapse/store/update_rules/custom_rule.hpp,
  // which a program with such a rule includes.
  template <Element T, class R>
  static UpdateRule custom(R rule);

  // For other languages' interfaces: a user's own rule without its type.
  static UpdateRule from_functions(CustomRuleFunctions functions);

  UpdateRule() : UpdateRule(add()) {}

  UpdateRuleKind kind() const;
  // "adagrad"; a custom rule's own name.
  std::string name() const;
  // Name and parameters in full precision; ranks compare it.
  std::string to_string() const;
  Merge merge() const;
  // Whether a push may have a scale other than 1.
  bool accepts_scale(ElementType type) const;
  // Throws ConfigurationError for impossible parameters and unsuitable element types.
  void check(ElementType type) const;

  // Valid while a copy of this rule exists.
  StateSize state_size() const;
  // Elements of state for a value of `length` elements.
  std::size_t state_elements(std::size_t length) const;

  const RuleDefinition& definition() const { return *definition_; }

 private:
  explicit UpdateRule(std::shared_ptr<const RuleDefinition> definition)
      : definition_(std::move(definition)) {}

  std::shared_ptr<const RuleDefinition> definition_;
};

}  // namespace lapse
