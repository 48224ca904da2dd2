// Which keys the option trace_keys names.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/types.hpp"

namespace adapm {

// Keys by the names of their tables, each once and in order. `text`: "factors:5,7;biases:0"; the name of a
// table ends at the last colon. Throws ConfigurationError for any other text.
std::map<std::string, std::vector<lapse::Key>> traced_keys(std::string_view text);

}  // namespace adapm
