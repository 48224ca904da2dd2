#include "lapse/core/options/option_set.hpp"

#include <unistd.h>

#include <array>

#include "lapse/core/options/nearest_names.hpp"

namespace lapse {

namespace {

constexpr std::array<std::string_view, 16> kInstallationNames{
    "BASE",         "BIN", "DIR",     "DOC", "HOME", "INC",    "INCLUDE", "INCLUDE_DIR",
    "INSTALL_ROOT", "LIB", "LIB_DIR", "MAN", "PATH", "PREFIX", "ROOT",    "VERSION"};

std::string upper_case(std::string_view name) {
  std::string text;
  for (const char c : name) text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

}  // namespace

std::span<const std::string_view> OptionNames::installation_names() {
  return kInstallationNames;
}

std::string OptionNames::variable(std::string_view name) const {
  return std::string(prefix_) + upper_case(name);
}

std::string OptionNames::full_name(std::string_view name) const {
  std::string prefix;
  for (const char c : prefix_)
    prefix += c == '_' ? '.' : static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return prefix + std::string(name);
}

std::size_t OptionNames::position(std::string_view name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end())
    throw ConfigurationError(fmt::format("there is no option '{}'{}", name, did_you_mean(name, names_)));
  return static_cast<std::size_t>(found - names_.begin());
}

void OptionNames::handle_unknown(std::string_view variable, std::vector<std::string>& ignored,
                                 const Refuse& refuse) const {
  const std::string name = upper_case(variable.substr(prefix_.size()));
  if (std::ranges::find(kInstallationNames, name) != kInstallationNames.end()) return;
  if (variable == OptionsFile::kVariable) return;
  // Compares without the prefix, which would make every short name a near one.
  std::vector<std::string> upper;
  upper.reserve(names_.size());
  for (const std::string_view known : names_) upper.push_back(upper_case(known));
  const std::vector<std::string_view> names(upper.begin(), upper.end());
  std::vector<std::string> meant;
  for (const std::string_view near : nearest_names(name, names)) {
    if (is_misspelled(name, std::span(&near, 1))) meant.push_back(fmt::format("{}{}", prefix_, near));
  }
  if (meant.empty()) {
    ignored.emplace_back(variable);
    return;
  }
  refuse(fmt::format("the environment variable {} belongs to no option (did you mean '{}'?)", variable,
                     fmt::join(meant, "' or '")));
}

void OptionNames::read_environment(std::vector<Setting>& settings, std::vector<std::string>& ignored,
                                   const Refuse& refuse) const {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment(*entry);
    if (!assignment.starts_with(prefix_)) continue;
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals + 1 == assignment.size()) continue;  // empty: as if unset
    const std::string_view name = assignment.substr(0, equals);
    const auto found =
        std::ranges::find_if(names_, [&](std::string_view option) { return variable(option) == name; });
    if (found == names_.end()) {
      handle_unknown(name, ignored, refuse);
      continue;
    }
    settings.push_back({.position = static_cast<std::size_t>(found - names_.begin()),
                        .value = std::string(assignment.substr(equals + 1)),
                        .place = fmt::format("environment variable {}", name),
                        .origin = "environment"});
  }
}

void OptionNames::read(const std::vector<OptionSetting>& given, std::vector<Setting>& settings,
                       const Refuse& refuse) const {
  const std::string prefix = full_name("");
  for (const OptionSetting& setting : given) {
    if (!setting.name.starts_with(prefix)) continue;
    try {
      settings.push_back({.position = position(std::string_view(setting.name).substr(prefix.size())),
                          .value = setting.value,
                          .place = setting.place,
                          .origin = setting.place});
    } catch (const ConfigurationError& error) {
      refuse(fmt::format("{}: {}", setting.place, error.what()));
    }
  }
}

std::vector<OptionNames::Setting> OptionNames::read(const OptionSources& sources,
                                                    std::vector<std::string>& ignored,
                                                    const Refuse& refuse) const {
  std::vector<Setting> settings;
  read(sources.file, settings, refuse);
  read_environment(settings, ignored, refuse);
  read(sources.assignments, settings, refuse);
  return settings;
}

}  // namespace lapse
