// Values of command line options that CLI11 does not read on its own.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace lapse::apps {

// An option whose values have names; the default is the target's value.
template <class Enum>
void add_names(CLI::App& app, const std::string& option, Enum& target,
               const std::map<std::string, Enum>& names, const std::string& meaning) {
  std::vector<std::string> values;
  std::string chosen;
  for (const auto& [name, value] : names) {
    values.push_back(name);
    if (value == target) chosen = name;
  }
  app.add_option_function<std::string>(
         option, [&target, names](const std::string& name) { target = names.at(name); }, meaning)
      ->check(CLI::IsMember(values))
      ->default_str(chosen)
      ->type_name("");
}

}  // namespace lapse::apps
