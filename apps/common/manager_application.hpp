// The main function of an application that trains with intents.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdlib>

#include "apps/common/command_line.hpp"
#include "apps/common/manager_program.hpp"
#include "apps/common/mpi_session.hpp"

namespace lapse::apps {

// Reads the options, which have the members technique and settings, makes a manager and runs
// Program(manager, options, given descriptors). Returns the exit status of the process.
template <class Program, class Options>
int run_manager_application(const char* description, int argument_count, char** arguments) {
  const MpiSession mpi(argument_count, arguments);
  CLI::App app{description};
  Options options;
  add_options(app, options);
  options.settings.file = mpi.options_file();
  if constexpr (requires { options.training.host_ranks; }) options.training.host_ranks = mpi.host_ranks();
  if (const auto status = parse_command_line(app, argument_count, arguments, mpi)) return *status;
  int status = EXIT_SUCCESS;
  const int failure =
      run_manager_program(options.technique, options.settings, [&](adapm::ParameterManager& manager) {
        status = Program(manager, options, mpi.given_descriptors()).run();
      });
  return failure != EXIT_SUCCESS ? failure : status;
}

}  // namespace lapse::apps
