// Command lines of programs that run on many ranks.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace lapse::apps {

// Parses the same arguments on every rank. When the program is to end (an error, or help was asked for): its
// exit status, and the text for the user, printed by the rank that reports alone.
std::optional<int> parse_command_line(CLI::App& app, int argument_count, char** arguments, bool reports);

}  // namespace lapse::apps
