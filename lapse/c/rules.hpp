// Update rules that were given in C.
#pragma once

#include "lapse/c/table.h"
#include "lapse/store/update_rules/update_rule.hpp"
#include "lapse/store/values/element_type.hpp"

namespace lapse::c {

// Null: addition. Throws ConfigurationError for a rule that does not exist or lacks something.
UpdateRule rule_of(const lapse_rule* rule, ElementType type);

}  // namespace lapse::c
