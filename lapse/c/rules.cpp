// Update rules of the C interface.
#include "lapse/c/rules.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "lapse/c/status.hpp"
#include "lapse/store/update_rules/custom_rule.hpp"

namespace lapse::c {

namespace {

// Adapts a rule of the application to CustomRuleFunctions.
struct CallbackRule {
  lapse_rule rule;
  std::size_t element_bytes;

  static const CallbackRule& of(const void* rule) { return *static_cast<const CallbackRule*>(rule); }
  std::size_t state_elements(std::size_t length) const {
    return rule.state_elements == nullptr ? 0 : rule.state_elements(rule.context, length);
  }
  std::byte* state(std::byte* value, std::size_t length) const { return value + length * element_bytes; }
};

UpdateRule custom_rule(const lapse_rule& rule, ElementType type) {
  if (rule.apply == nullptr) throw ConfigurationError("a custom rule without a function apply");
  if (rule.name == nullptr) throw ConfigurationError("a custom rule without a name");
  CustomRuleFunctions functions;
  functions.type = type;
  functions.name = rule.name;
  functions.merge = choice_at<ConfigurationError>(
      std::array{Merge::additive_slot, Merge::gradient, Merge::none}, rule.merge, "a custom rule with merge");
  functions.rule = std::make_shared<const CallbackRule>(CallbackRule{rule, element_bytes(type)});
  functions.state_elements = [](const void* self, std::size_t length) {
    return CallbackRule::of(self).state_elements(length);
  };
  functions.initialise = [](const void* self, std::byte* value, std::size_t length) {
    const CallbackRule& typed = CallbackRule::of(self);
    if (typed.rule.initialise == nullptr) return;
    check_callback(typed.rule.initialise(typed.rule.context, value, length, typed.state(value, length),
                                         typed.state_elements(length)),
                   "the function initialise of a rule");
  };
  functions.apply = [](const void* self, std::byte* value, const std::byte* update, std::size_t length,
                       float scale) {
    const CallbackRule& typed = CallbackRule::of(self);
    check_callback(typed.rule.apply(typed.rule.context, value, typed.state(value, length), update, length,
                                    typed.state_elements(length), scale),
                   "the function apply of a rule");
  };
  return UpdateRule::from_functions(std::move(functions));
}

}  // namespace

UpdateRule rule_of(const lapse_rule* given_rule, ElementType type) {
  if (given_rule == nullptr) return UpdateRule::add();
  const lapse_rule& rule = *given_rule;
  check_size(rule, "lapse_rule");
  switch (rule.kind) {
    case LAPSE_ADD:
      return UpdateRule::add();
    case LAPSE_ASSIGN:
      return UpdateRule::assign();
    case LAPSE_SGD:
      return UpdateRule::sgd({.learning_rate = rule.learning_rate, .l2 = rule.l2});
    case LAPSE_ADAGRAD:
      return UpdateRule::adagrad({.learning_rate = rule.learning_rate,
                                  .l2 = rule.l2,
                                  .initial_accumulator = rule.initial_accumulator,
                                  .epsilon = rule.epsilon});
    case LAPSE_ROWWISE_ADAGRAD:
      return UpdateRule::rowwise_adagrad({.learning_rate = rule.learning_rate,
                                          .l2 = rule.l2,
                                          .initial_accumulator = rule.initial_accumulator,
                                          .epsilon = rule.epsilon});
    case LAPSE_ADAM:
      return UpdateRule::adam({.learning_rate = rule.learning_rate,
                               .beta1 = rule.beta1,
                               .beta2 = rule.beta2,
                               .epsilon = rule.epsilon,
                               .l2 = rule.l2});
    case LAPSE_FTRL:
      return UpdateRule::ftrl(
          {.alpha = rule.learning_rate, .beta = rule.beta1, .l1 = rule.l1, .l2 = rule.l2});
    case LAPSE_CUSTOM:
      return custom_rule(rule, type);
  }
  throw ConfigurationError(fmt::format("a rule of kind {}", static_cast<int>(rule.kind)));
}

}  // namespace lapse::c

void lapse_rule_init(lapse_rule* rule, lapse_rule_kind kind) {
  if (rule == nullptr) return;
  std::memset(rule, 0, sizeof *rule);
  rule->size = sizeof *rule;
  rule->kind = kind;
  rule->merge = LAPSE_MERGE_GRADIENT;
  const auto copy_adagrad = [&](const auto& defaults) {
    rule->learning_rate = defaults.learning_rate;
    rule->l2 = defaults.l2;
    rule->initial_accumulator = defaults.initial_accumulator;
    rule->epsilon = defaults.epsilon;
  };
  switch (kind) {
    case LAPSE_SGD:
      rule->learning_rate = lapse::Sgd().learning_rate;
      rule->l2 = lapse::Sgd().l2;
      break;
    case LAPSE_ADAGRAD:
      copy_adagrad(lapse::Adagrad());
      break;
    case LAPSE_ROWWISE_ADAGRAD:
      copy_adagrad(lapse::RowwiseAdagrad());
      break;
    case LAPSE_ADAM:
      rule->learning_rate = lapse::Adam().learning_rate;
      rule->beta1 = lapse::Adam().beta1;
      rule->beta2 = lapse::Adam().beta2;
      rule->epsilon = lapse::Adam().epsilon;
      rule->l2 = lapse::Adam().l2;
      break;
    case LAPSE_FTRL:
      rule->learning_rate = lapse::Ftrl().alpha;
      rule->beta1 = lapse::Ftrl().beta;
      rule->l1 = lapse::Ftrl().l1;
      rule->l2 = lapse::Ftrl().l2;
      break;
    case LAPSE_ADD:
    case LAPSE_ASSIGN:
    case LAPSE_CUSTOM:
      break;
  }
}
