// Values of command line options that CLI11 does not read or check on its own.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace lapse::apps {

// An option whose values have names; the default is the target's value.
template <class Enum>
CLI::Option* add_names(CLI::App& app, const std::string& option, Enum& target,
                       const std::map<std::string, Enum>& names, const std::string& meaning) {
  std::vector<std::string> values;
  std::string chosen;
  for (const auto& [name, value] : names) {
    values.push_back(name);
    if (value == target) chosen = name;
  }
  return app
      .add_option_function<std::string>(
          option, [&target, names](const std::string& name) { target = names.at(name); }, meaning)
      ->check(CLI::IsMember(values))
      ->default_str(chosen)
      ->type_name("");
}

// Checks of values. Numbers must be finite, also as float, in which training computes.
CLI::Validator any_number();
CLI::Validator number_from_0();
CLI::Validator number_above_0();
CLI::Validator number_in(double min, double max);
CLI::Validator number_from_0_below_1();
CLI::Validator number_above_0_up_to_1();
// An integer from 0; CLI11 takes negative ones for very large ones.
CLI::Validator integer_from_0();
// The name of a file. Without one, as after a variable that is not set, the option would have no effect.
CLI::Validator file_name();

}  // namespace lapse::apps
