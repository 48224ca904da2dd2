// The last message of a child made by fork.
#pragma once

#include <string_view>

#include "lapse/core/types.hpp"

namespace lapse {

// Like log_error, but always to standard error and without locks: another thread of the parent may have held
// those of the hooks when it called fork. Defined next to log_error.
void log_error_of_child(Rank rank, std::string_view message);

}  // namespace lapse
