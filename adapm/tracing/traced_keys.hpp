// Parses the option trace_keys.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/types.hpp"

namespace adapm {

// Returns keys by the names of their tables, sorted and distinct. `text`: "factors:5,7;biases:0"; the name of
// a table ends at the last colon. Throws ConfigurationError for malformed text.
std::map<std::string, std::vector<lapse::Key>> traced_keys(std::string_view text);

}  // namespace adapm
