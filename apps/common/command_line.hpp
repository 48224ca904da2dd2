// Command lines of programs with many ranks.
#pragma once

#include <optional>

#include "apps/common/mpi_session.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

// Collective over all ranks of the session; their arguments may differ. If the program is to end (an error on
// some rank, or --help), returns its exit status on every rank, and the lowest rank with a reason prints the
// message.
std::optional<int> parse_command_line(CLI::App& app, int argument_count, char** arguments,
                                      const MpiSession& session);

}  // namespace lapse::apps
