// Values of command line options that CLI11 does not parse or check.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace lapse::apps {

// Adds an option with named values; the default is the target's value.
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

// Validators. Numbers must be finite, also as float, because training computes with float.
CLI::Validator any_number();
CLI::Validator number_from_0();
CLI::Validator number_above_0();
CLI::Validator number_in(double min, double max);
CLI::Validator number_from_0_below_1();
CLI::Validator number_above_0_up_to_1();
// An integer of at least 0; CLI11 would read negative ones as very large.
CLI::Validator integer_from_0();
// A file name, not empty: with an unset shell variable the option would have no effect.
CLI::Validator file_name();

}  // namespace lapse::apps
