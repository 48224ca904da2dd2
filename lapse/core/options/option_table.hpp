// The table of all options, by which they are set, printed and documented.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "lapse/core/option_sources.hpp"
#include "lapse/core/options.hpp"
#include "lapse/core/options/option_row.hpp"

namespace lapse {

std::span<const OptionRow<Options>> option_table();

// All options with their values, and all that is wrong with the sources and the environment.
OptionStates option_states(const OptionSources& sources);

// A warning of the variables that were ignored; nothing when there are none.
std::optional<std::string> ignored_variables_warning(const Options& options);

// The text of docs/options.md.
std::string options_document();

}  // namespace lapse
