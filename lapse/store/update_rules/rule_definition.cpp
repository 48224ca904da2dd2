#include "lapse/store/update_rules/rule_definition.hpp"

#include <fmt/format.h>

#include "lapse/core/error.hpp"

namespace lapse {

void RuleDefinition::wrong_element_type(const std::string& rule, ElementType expected, ElementType given) {
  throw ConfigurationError(
      fmt::format("update rule {}: it was made for elements of type {}, the table has {}", rule,
                  element_name(expected), element_name(given)));
}

}  // namespace lapse
