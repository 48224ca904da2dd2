#include "lapse/core/options/option_set.hpp"

#include <unistd.h>

#include <cctype>

#include "lapse/core/error.hpp"
#include "lapse/core/options/nearest_name.hpp"

namespace lapse {

namespace {

// The names, after the prefix, by which module files and package managers describe an installation.
constexpr std::array<std::string_view, 16> kInstallationNames{
    "base",         "bin", "dir",     "doc", "home", "inc",    "include", "include_dir",
    "install_root", "lib", "lib_dir", "man", "path", "prefix", "root",    "version"};

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

// "lapse." of "LAPSE_".
std::string prefix_of_names(std::string_view prefix_of_variables) {
  return lower_case(prefix_of_variables.substr(0, prefix_of_variables.size() - 1)) + ".";
}

void assign(const Option& option, std::string_view value) {
  if (option.parse(value)) return;
  throw ConfigurationError(fmt::format("option {} cannot be '{}': expected {}{}{}{}", option.name, value,
                                       option.kind, option.values, option.unit.empty() ? "" : " in ",
                                       option.unit));
}

}  // namespace

std::vector<std::string_view> OptionSet::names() const {
  std::vector<std::string_view> names;
  for (const Option& option : options_) names.push_back(option.name);
  return names;
}

std::string OptionSet::variable(std::string_view name) const {
  std::string variable(prefix_);
  for (const unsigned char c : name) variable += static_cast<char>(std::toupper(c));
  return variable;
}

std::size_t OptionSet::position(std::string_view name) const {
  const auto found = std::ranges::find(options_, name, &Option::name);
  if (found == options_.end())
    throw ConfigurationError(fmt::format("there is no option '{}'{}", name, did_you_mean(name, names())));
  return static_cast<std::size_t>(found - options_.begin());
}

void OptionSet::handle_unknown(std::string_view variable, std::vector<std::string>& ignored,
                               const Refuse& refuse) const {
  // Compares without the prefix, which would make every short name a near one.
  const std::string name = lower_case(variable.substr(prefix_.size()));
  if (std::ranges::count(kInstallationNames, name) > 0 || variable == OptionsFile::kVariable) return;
  const std::string_view near = nearest_name(name, names(), 3);
  if (near.empty()) {
    ignored.emplace_back(variable);
    return;
  }
  refuse(fmt::format("the environment variable {} belongs to no option (did you mean '{}'?)", variable,
                     this->variable(near)));
}

std::vector<std::string> OptionSet::read(const OptionSources& sources, std::vector<std::string>& ignored,
                                         const Refuse& refuse) const {
  std::vector<std::string> origins(options_.size(), "default");
  const auto apply = [&](std::string_view name, std::string_view value, const std::string& place,
                         const std::string& origin) {
    try {
      const std::size_t i = position(name);
      assign(options_[i], value);
      origins[i] = origin;
    } catch (const ConfigurationError& error) {
      refuse(fmt::format("{}: {}", place, error.what()));
    }
  };
  const auto apply_all = [&](const std::vector<OptionSetting>& settings) {
    const std::string prefix = prefix_of_names(prefix_);
    for (const auto& [name, value, place] : settings)
      if (name.starts_with(prefix)) apply(std::string_view(name).substr(prefix.size()), value, place, place);
  };
  apply_all(sources.file);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment(*entry);
    if (!assignment.starts_with(prefix_)) continue;
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos || equals + 1 == assignment.size()) continue;  // empty: as if unset
    const std::string_view given = assignment.substr(0, equals);
    const auto option = std::ranges::find(options_, given, [&](const auto& o) { return variable(o.name); });
    if (option == options_.end()) {
      handle_unknown(given, ignored, refuse);
    } else {
      apply(option->name, assignment.substr(equals + 1), fmt::format("environment variable {}", given),
            "environment");
    }
  }
  apply_all(sources.assignments);
  return origins;
}

void OptionSet::read(const OptionSources& sources, std::vector<std::string>& ignored) const {
  read(sources, ignored, [](const std::string& problem) { throw ConfigurationError(problem); });
}

OptionStates OptionSet::read_states(const OptionSources& sources) const {
  OptionStates states;
  for (const Option& option : options_) {
    states.options.push_back({.name = prefix_of_names(prefix_).append(option.name),
                              .variable = variable(option.name),
                              .value = {},
                              .default_value = option.print(),
                              .unit = std::string(option.unit),
                              .values = option.values,
                              .meaning = std::string(option.meaning),
                              .origin = {}});
  }
  std::vector<std::string> ignored;
  const auto origins =
      read(sources, ignored, [&](const std::string& problem) { states.problems.push_back(problem); });
  for (std::size_t i = 0; i < options_.size(); ++i) {
    states.options[i].value = options_[i].print();
    states.options[i].origin = origins[i];
  }
  return states;
}

void OptionSet::set(std::string_view name, std::string_view value) const {
  assign(options_[position(name)], value);
}

std::string OptionSet::get(std::string_view name) const {
  return options_[position(name)].print();
}

void OptionSet::validate() const {
  // A value that cannot be printed and parsed again is outside its range.
  for (const Option& option : options_) assign(option, option.print());
}

std::string OptionSet::to_text(const OptionSet& defaults) const {
  std::string text;
  for (std::size_t i = 0; i < options_.size(); ++i) {
    const Option& option = options_[i];
    const std::string value = option.print();
    const std::string default_value = defaults.options_[i].print();
    text += fmt::format("{} = {}{}{}", option.name, value, option.unit.empty() ? "" : " ", option.unit);
    text += value == default_value ? "\n" : fmt::format(" (default {})\n", default_value);
  }
  return text;
}

}  // namespace lapse
