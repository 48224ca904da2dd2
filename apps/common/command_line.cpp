#include "apps/common/command_line.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

#include "lapse/core/version.hpp"

namespace lapse::apps {

namespace {

// Prints the reason why the program ends, if this rank has it.
int exit_status(const CLI::App& app, const CLI::ParseError* reason, bool reports) {
  if (reason == nullptr) return EXIT_FAILURE;  // Another rank has the reason.
  return reports ? app.exit(*reason) : reason->get_exit_code();
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argument_count, char** arguments,
                                      const MpiSession& session) {
  app.set_version_flag("--version", std::string("lapse ") + library_version_text(),
                       "Print the version and end");
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "error: " + std::string(error.what()) + " (see --help)\n";
  });
  const auto end = [&](const CLI::ParseError* reason) -> std::optional<int> {
    const auto reporter = session.lowest_rank_where(reason != nullptr);
    if (!reporter) return std::nullopt;
    return exit_status(app, reason, *reporter == session.rank());
  };
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return end(&error);
  }
  return end(nullptr);
}

}  // namespace lapse::apps
