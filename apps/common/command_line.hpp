// Command lines of programs that run on many ranks.
#pragma once

#include <optional>

#include "apps/common/mpi_session.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

// Collective over all ranks of the session, whose arguments may differ. When the program is to end (an error
// on some rank, or help was asked for), returns its exit status on every rank; the lowest rank that has a
// reason prints the message for the user.
std::optional<int> parse_command_line(CLI::App& app, int argument_count, char** arguments,
                                      const MpiSession& session);

}  // namespace lapse::apps
