// Options of the parameter manager and the server set by the user of a program.
#pragma once

#include <optional>
#include <vector>

#include "adapm/options.hpp"
#include "lapse/core/option_sources.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lapse::apps {

// The environment overrides the file, and the command line overrides the environment.
struct ManagerSettings {
  OptionsFile file;                        // equal on all ranks
  std::vector<OptionSetting> assignments;  // from the command line

  // Throws ConfigurationError for errors in the file.
  OptionSources sources() const { return OptionSources(file.settings(), assignments); }
};

// Adds the option --set NAME=VALUE, which may be repeated; refuses unknown names and invalid values.
CLI::Option* add_settings(CLI::App& app, ManagerSettings& settings);

// Call it when all options are read. Sets --technique and --sampling, unless given, from the settings of the
// command line or, if the environment has none, of the file. Throws CLI::ValidationError for errors in the
// file.
void choose_settings(const ManagerSettings& settings, std::optional<adapm::Technique>& technique,
                     std::optional<adapm::SamplingScheme>* sampling = nullptr);

}  // namespace lapse::apps
