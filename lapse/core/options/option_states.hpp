// All options with their values and origins, for programs that print and check them.
#pragma once

#include <optional>
#include <string>

#include "lapse/core/option_sources.hpp"
#include "lapse/core/options.hpp"

namespace lapse {

// All options with their values, and all problems of the sources and the environment.
OptionStates option_states(const OptionSources& sources);

// A warning about the ignored variables; nullopt if there are none.
std::optional<std::string> ignored_variables_warning(const Options& options);

}  // namespace lapse
