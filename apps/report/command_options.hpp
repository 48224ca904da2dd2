// The options of a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lapse::apps {

struct CommandOption {
  std::string name;   // "--epochs"; "" for what is in front of all options
  std::string value;  // its words up to the next option; "yes" for an option without any
};

struct CommandOptions {
  std::string program;                 // without folders; empty: the command is empty
  std::vector<CommandOption> options;  // an option that is repeated has all values, separated by commas

  // Null for an option that is not there.
  const CommandOption* find(std::string_view name) const;
};

// `command`: as joined_command writes it.
CommandOptions options_of(std::string_view command);

}  // namespace lapse::apps
