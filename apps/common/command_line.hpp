// Command lines of programs that run on many ranks.
#pragma once

#include <optional>

namespace CLI {
class App;
}

namespace lapse::apps {

// Parses the same arguments on every rank. When the program is to end (an error, or help was asked for),
// returns its exit status; only the rank that reports prints the message for the user.
std::optional<int> parse_command_line(CLI::App& app, int argument_count, char** arguments, bool reports);

}  // namespace lapse::apps
