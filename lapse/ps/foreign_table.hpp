// For error messages: the table of another server.
#pragma once

#include "lapse/core/export.hpp"

namespace lapse {

// Describes a table of `server` that another server's call was given. If null: of no server.
LAPSE_EXPORT const char* foreign_table(const void* server);

}  // namespace lapse
