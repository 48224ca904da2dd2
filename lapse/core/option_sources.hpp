// What sets options beside code and environment: a file, and assignments on a command line.
//
// Both name options with the prefix of their table: `lapse.domain`, `adapm.technique`. In a file:
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

// A value for an option, as "lapse.domain=2"; `place` as above. Throws ConfigurationError where it is none,
// or its name has no prefix. Whether there is such an option, the table says.
LAPSE_EXPORT OptionSetting option_assignment(std::string_view text, std::string place);

// A file of options as one rank has read it, for all.
struct LAPSE_EXPORT OptionsFile {
  static constexpr const char* kVariable = "LAPSE_OPTIONS_FILE";

  std::string path;     // empty: no file
  std::string text;     // what it has
  std::string problem;  // why it could not be read; else empty

  static OptionsFile read(const std::string& path);
  // The file that the environment variable names, if there is one.
  static OptionsFile read_named();

  // In the order of the lines. Throws ConfigurationError, with the line, where the file could not be read, a
  // line is no assignment, or an option is set twice.
  std::vector<OptionSetting> settings() const;
};

// From the weakest to the strongest: defaults, `file`, environment, `assignments`.
struct LAPSE_EXPORT OptionSources {
  explicit OptionSources(std::vector<OptionSetting> of_file, std::vector<OptionSetting> of_command_line = {})
      : file(std::move(of_file)), assignments(std::move(of_command_line)) {}

  std::vector<OptionSetting> file;
  std::vector<OptionSetting> assignments;
};

// An option with its value, and where that comes from.
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
  std::vector<std::string> problems;  // what is wrong, in words
};

}  // namespace lapse
