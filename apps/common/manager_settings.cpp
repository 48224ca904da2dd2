#include "apps/common/manager_settings.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <string>

#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

constexpr const char* kSet = "--set";

// Throws ConfigurationError for an unknown option or an invalid value.
void require_possible(const OptionSetting& setting) {
  adapm::Options options;
  const std::string name = setting.name.substr(setting.name.find('.') + 1);
  try {
    setting.name.starts_with("lapse.") ? options.server.set(name, setting.value)
                                       : options.set(name, setting.value);
  } catch (const ConfigurationError& error) {
    throw ConfigurationError(setting.place + ": " + error.what());
  }
}

const OptionSetting* last_of(const std::vector<OptionSetting>& settings, std::string_view name) {
  const auto found = std::find_if(settings.rbegin(), settings.rend(),
                                  [&](const OptionSetting& setting) { return setting.name == name; });
  return found == settings.rend() ? nullptr : &*found;
}

// The effective setting; null if there is none, or the environment has the option.
const OptionSetting* chosen(const OptionSources& sources, std::string_view name, const char* variable) {
  if (const OptionSetting* const assignment = last_of(sources.assignments, name)) return assignment;
  const char* const value = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe)
  if (value != nullptr && *value != '\0') return nullptr;
  return last_of(sources.file, name);
}

}  // namespace

CLI::Option* add_settings(CLI::App& app, ManagerSettings& settings) {
  return app
      .add_option_function<std::vector<std::string>>(
          kSet,
          [&settings](const std::vector<std::string>& texts) {
            settings.assignments.clear();
            for (const std::string& text : texts) {
              try {
                settings.assignments.push_back(option_assignment(text, kSet));
                require_possible(settings.assignments.back());
              } catch (const ConfigurationError& error) {
                throw CLI::ValidationError(error.what());
              }
            }
          },
          "Option of the parameter manager or its server, as lapse.domain=2 or adapm.trace_keys=t:5; may be "
          "repeated; lapse-options lists them")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void choose_settings(const ManagerSettings& settings, std::optional<adapm::Technique>& technique,
                     std::optional<adapm::SamplingScheme>* sampling) {
  try {
    const OptionSources sources = settings.sources();
    adapm::Options options;
    if (const OptionSetting* const setting = chosen(sources, "adapm.technique", "ADAPM_TECHNIQUE");
        setting != nullptr && !technique) {
      options.set("technique", setting->value);
      technique = options.technique;
    }
    if (sampling == nullptr || *sampling) return;
    if (const OptionSetting* const setting =
            chosen(sources, "adapm.sampling_scheme", "ADAPM_SAMPLING_SCHEME")) {
      options.set("sampling_scheme", setting->value);
      *sampling = options.sampling_scheme;
    }
  } catch (const ConfigurationError& error) {
    throw CLI::ValidationError(OptionsFile::kVariable, error.what());
  }
}

}  // namespace lapse::apps
