// Push limits of the C interface.
#pragma once

#include "lapse/lapse.h"
#include "lapse/ps/table.hpp"

namespace lapse::c {

// `limits`: null for none. Throws ConfigurationError for a structure of another version, and for an invalid
// choice.
void set_limits(TableOptions& options, const lapse_push_limits* limits);

}  // namespace lapse::c
