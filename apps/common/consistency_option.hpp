// Chooses how old what workers read may be, by the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "lapse/consistency/consistency.hpp"

namespace lapse::apps {

// Adds the option --consistency; without it `consistency` stays empty. `clock`: what a clock of the program
// is, such as "a batch".
CLI::Option* add_consistency(CLI::App& app, std::optional<Consistency>& consistency,
                             const std::string& clock);

}  // namespace lapse::apps
