// The table of all options, by which they are set, printed and documented.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "lapse/core/option_row.hpp"
#include "lapse/core/options.hpp"

namespace lapse {

std::span<const OptionRow<Options>> option_table();

// A warning of the variables that were ignored; nothing when there are none.
std::optional<std::string> ignored_variables_warning(const Options& options);

// The text of docs/options.md.
std::string options_document();

}  // namespace lapse
