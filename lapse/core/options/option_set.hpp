// All options of a struct: set by name, file or environment variable, checked and printed.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lapse/core/export.hpp"
#include "lapse/core/option_sources.hpp"
#include "lapse/core/options/option.hpp"

namespace lapse {

// The rows refer to the fields of one object, which the set must not outlive. Thread safety: that of the
// object.
class LAPSE_EXPORT_INNER OptionSet {
 public:
  // `prefix`: of the environment variables, "LAPSE_".
  OptionSet(std::string_view prefix, std::vector<Option> options)
      : prefix_(prefix), options_(std::move(options)) {}

  // Sets the options given by the sources and the environment. Adds to `ignored` the variables with the
  // prefix that belong to no option, except those that describe an installation. Throws ConfigurationError
  // for unknown names, impossible values, and variables whose name is nearly an option's.
  void read(const OptionSources& sources, std::vector<std::string>& ignored) const;
  // The same of an object with the defaults; returns the options, each with its origin, and all problems.
  OptionStates read_states(const OptionSources& sources) const;

  // Throw ConfigurationError for an unknown name, with the nearest one, and for an impossible value.
  void set(std::string_view name, std::string_view value) const;
  std::string get(std::string_view name) const;
  // Throws ConfigurationError if a field is outside its range.
  void validate() const;
  // One line per option: name, value, unit; marks values that differ from the default.
  std::string to_text(const OptionSet& defaults) const;

 private:
  using Refuse = std::function<void(const std::string& problem)>;

  // Returns the origins of the values.
  std::vector<std::string> read(const OptionSources& sources, std::vector<std::string>& ignored,
                                const Refuse& refuse) const;
  // Refuses or lists a variable that belongs to no option, or neither.
  void handle_unknown(std::string_view variable, std::vector<std::string>& ignored,
                      const Refuse& refuse) const;
  std::size_t position(std::string_view name) const;
  std::vector<std::string_view> names() const;
  std::string variable(std::string_view name) const;

  std::string_view prefix_;
  std::vector<Option> options_;
};

}  // namespace lapse
