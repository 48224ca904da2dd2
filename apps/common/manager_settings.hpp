// Options of parameter manager and server that a program's user sets.
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

// Beside the environment, which is weaker than the command line and stronger than the file.
struct ManagerSettings {
  OptionsFile file;                        // equal on all ranks
  std::vector<OptionSetting> assignments;  // of the command line

  // Throws ConfigurationError for what is wrong in the file.
  OptionSources sources() const { return OptionSources(file.settings(), assignments); }
};

// The option --set NAME=VALUE, which may be repeated; refuses unknown names and impossible values.
CLI::Option* add_settings(CLI::App& app, ManagerSettings& settings);

// To be called when all options are read: a technique and a scheme of sampling that the command line or,
// where the environment has none, the file sets, are those of --technique and --sampling where these are
// not given. Throws CLI::ValidationError for what is wrong in the file.
void choose_settings(const ManagerSettings& settings, std::optional<adapm::Technique>& technique,
                     std::optional<adapm::SamplingScheme>* sampling = nullptr);

}  // namespace lapse::apps
