// The table of all options, used to set, print and document them.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "lapse/core/option_sources.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/options/option_row.hpp"

namespace lapse {

std::span<const OptionRow<Options>> option_table();

// All options with their values, and all problems of the sources and the environment.
OptionStates option_states(const OptionSources& sources);

// A warning about the ignored variables; nullopt if there are none.
std::optional<std::string> ignored_variables_warning(const Options& options);

// The text of docs/options.md.
std::string options_document();

}  // namespace lapse
