#include "apps/common/command_line.hpp"

#include <CLI/CLI.hpp>
#include <string>

namespace lapse::apps {

std::optional<int> parse_command_line(CLI::App& app, int argument_count, char** arguments, bool reports) {
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "error: " + std::string(error.what()) + " (see --help)\n";
  });
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return reports ? app.exit(error) : error.get_exit_code();
  }
  return std::nullopt;
}

}  // namespace lapse::apps
