// The last words of a child that fork has made.
#pragma once

#include <string_view>

#include "lapse/core/types.hpp"

namespace lapse {

// As log_error, on standard error in any case and without a lock: another thread of the parent may have had
// those of the hooks when it called fork. Defined beside log_error.
void log_error_of_child(Rank rank, std::string_view message);

}  // namespace lapse
