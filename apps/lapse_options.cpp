// Prints the options of server and manager, checks them, and shows where they are set, without MPI.
//   lapse-options --file my.options --set lapse.domain=2 --json
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "adapm/options.hpp"
#include "apps/common/manager_settings.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/options/option_states.hpp"
#include "lapse/core/version.hpp"

namespace {

using lapse::ConfigurationError;
using lapse::OptionSources;
using lapse::OptionState;
using lapse::OptionStates;

// The options of server and manager.
OptionStates all_states(const OptionSources& sources) {
  OptionStates states = lapse::option_states(sources);
  const OptionStates manager = adapm::option_states(sources);
  states.options.insert(states.options.end(), manager.options.begin(), manager.options.end());
  states.problems.insert(states.problems.end(), manager.problems.begin(), manager.problems.end());
  if (!states.problems.empty()) return states;
  try {
    const adapm::Options options = adapm::Options::from_environment(sources);
    if (const auto warning = lapse::ignored_variables_warning(options.server))
      fmt::print(stderr, "warning: {}\n", *warning);
  } catch (const ConfigurationError& error) {
    states.problems.emplace_back(error.what());  // Contradicting options.
  }
  return states;
}

std::string with_unit(const std::string& value, const OptionState& option) {
  if (value.empty()) return "none";
  return option.unit.empty() ? value : value + " " + option.unit;
}

void print_text(const std::vector<OptionState>& options) {
  for (const OptionState& option : options) {
    fmt::print("{} = {}  [{}]\n    {}\n    {}; default {}; environment variable {}\n", option.name,
               with_unit(option.value, option), option.origin, option.meaning, option.values,
               with_unit(option.default_value, option), option.variable);
  }
}

void print_json(const OptionStates& states) {
  nlohmann::ordered_json json = {{"options", nlohmann::ordered_json::array()}, {"problems", states.problems}};
  for (const OptionState& option : states.options) {
    json["options"].push_back({{"name", option.name},
                               {"value", option.value},
                               {"origin", option.origin},
                               {"default", option.default_value},
                               {"unit", option.unit},
                               {"values", option.values},
                               {"environment_variable", option.variable},
                               {"meaning", option.meaning}});
  }
  // Values may have any bytes.
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app(
      "Prints the options of parameter server and parameter manager: value, where it comes from, meaning, "
      "unit, default. The status is 1 where the file, the environment or the command line has an error. "
      "Needs no MPI.",
      "lapse-options");
  app.set_version_flag("--version", std::string("lapse ") + lapse::library_version_text(),
                       "Print the version and end");
  std::string file;
  bool as_json = false;
  lapse::apps::ManagerSettings settings;
  app.add_option("--file", file, "File of options (default: the one that LAPSE_OPTIONS_FILE names)");
  app.add_flag("--json", as_json, "Print JSON");
  lapse::apps::add_settings(app, settings);
  try {
    app.parse(argument_count, arguments);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 1;  // 0: help
  }

  settings.file = file.empty() ? lapse::OptionsFile::read_named() : lapse::OptionsFile::read(file);
  std::vector<std::string> problems;
  try {
    settings.file.settings();
  } catch (const ConfigurationError& error) {
    problems.emplace_back(error.what());
    settings.file = {};
  }
  OptionStates states = all_states(settings.sources());
  states.problems.insert(states.problems.begin(), problems.begin(), problems.end());
  if (as_json) {
    print_json(states);
  } else {
    print_text(states.options);
  }
  std::fflush(stdout);  // Before unbuffered output.
  for (const std::string& problem : states.problems) fmt::print(stderr, "error: {}\n", problem);
  return states.problems.empty() ? 0 : 1;
}
