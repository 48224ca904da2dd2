// Sources of options besides code and environment: a file, and assignments on a command line.
//
// Both name options with their table's prefix: `lapse.domain`, `adapm.technique`. In a file:
//
//     # A comment.
//     lapse.domain = 2
//     adapm.technique = adaptive    # another
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse {

struct OptionSetting {
  std::string name;  // with the prefix
  std::string value;
  std::string place;  // for messages: "/home/me/options:3", "--set"
};

// Parses an assignment such as "lapse.domain=2"; `place` as above. Throws ConfigurationError if it is none,
// or its name has no prefix. Does not check whether the option exists.
LAPSE_EXPORT OptionSetting option_assignment(std::string_view text, std::string place);

// An options file as one rank has read it for all.
struct LAPSE_EXPORT OptionsFile {
  static constexpr const char* kVariable = "LAPSE_OPTIONS_FILE";

  std::string path;     // empty: no file
  std::string text;     // its contents
  std::string problem;  // why it could not be read; otherwise empty

  static OptionsFile read(const std::string& path);
  // Reads the file that the environment variable names, if any.
  static OptionsFile read_named();

  // The settings in line order. Throws ConfigurationError, with the line, if the file could not be read, a
  // line is no assignment, or an option is set twice.
  std::vector<OptionSetting> settings() const;
};

// From weakest to strongest: defaults, `file`, environment, `assignments`.
struct LAPSE_EXPORT OptionSources {
  explicit OptionSources(std::vector<OptionSetting> of_file, std::vector<OptionSetting> of_command_line = {})
      : file(std::move(of_file)), assignments(std::move(of_command_line)) {}

  std::vector<OptionSetting> file;
  std::vector<OptionSetting> assignments;
};

// An option with its value and the value's origin.
struct OptionState {
  std::string name;      // with the prefix
  std::string variable;  // of the environment
  std::string value;
  std::string default_value;
  std::string unit;
  std::string values;  // "on, off", "1 to 1024"
  std::string meaning;
  std::string origin;  // "default", "environment", or the place of a setting
};

struct LAPSE_EXPORT OptionStates {
  std::vector<OptionState> options;
  std::vector<std::string> problems;  // what is wrong, as messages
};

}  // namespace lapse
