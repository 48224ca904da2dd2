// Limits of pushes, as the C interface has them.
#pragma once

#include "lapse/lapse.h"
#include "lapse/ps/table.hpp"

namespace lapse::c {

// Null: none. Throws ConfigurationError for a structure of another version, and for a number that is no
// choice.
void set_limits(TableOptions& options, const lapse_push_limits* limits);

}  // namespace lapse::c
