// All options of a struct: set by name or environment variable, checked, printed and documented.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/option_sources.hpp"
#include "lapse/core/options/option_format.hpp"
#include "lapse/core/options/option_row.hpp"

namespace lapse {

// The row of an option. `Field`: a member of the struct, or a function from the struct to its field.
template <class Options, auto Field>
constexpr OptionRow<Options> option_row(std::string_view name, std::string_view unit, std::uint64_t minimum,
                                        std::uint64_t maximum, std::string_view meaning) {
  using Value = std::remove_cvref_t<std::invoke_result_t<decltype(Field), Options&>>;
  return {
      {name, unit, minimum, maximum, meaning},
      [](Options& options, std::string_view text, const OptionDescription& description) {
        std::invoke(Field, options) = detail::OptionFormat<Value>::parse(text, description);
      },
      [](const Options& options) { return detail::OptionFormat<Value>::print(std::invoke(Field, options)); },
      [](const OptionDescription& description) { return detail::OptionFormat<Value>::values(description); }};
}

// The part of OptionSet that does not depend on the struct.
class LAPSE_EXPORT_INNER OptionNames {
 public:
  // `prefix`: of the environment variables, "LAPSE_".
  OptionNames(std::string_view prefix, std::vector<std::string_view> names)
      : prefix_(prefix), names_(std::move(names)) {}

  // The names after the prefix by which module files and package managers describe an installation.
  static std::span<const std::string_view> installation_names();

  // An option's environment variable, and its name in files and on command lines.
  std::string variable(std::string_view name) const;
  std::string full_name(std::string_view name) const;
  // The position of an option. Throws ConfigurationError, with the nearest names, for an unknown name.
  std::size_t position(std::string_view name) const;

  // A value for one option. `place` is for messages; the origin is that of OptionState.
  struct Setting {
    std::size_t position;
    std::string value;
    std::string place;
    std::string origin;
  };
  // Called with a description of the problem.
  using Refuse = std::function<void(const std::string& problem)>;

  // The settings for options of this table, from weakest to strongest. Refuses environment variables with the
  // prefix whose name is nearly an option's, and unknown names in the sources. Adds other variables to
  // `ignored`, except those that describe an installation.
  std::vector<Setting> read(const OptionSources& sources, std::vector<std::string>& ignored,
                            const Refuse& refuse) const;

 private:
  void read_environment(std::vector<Setting>& settings, std::vector<std::string>& ignored,
                        const Refuse& refuse) const;
  void read(const std::vector<OptionSetting>& given, std::vector<Setting>& settings,
            const Refuse& refuse) const;
  // Refuses or lists a variable that belongs to no option, or neither.
  void handle_unknown(std::string_view variable, std::vector<std::string>& ignored,
                      const Refuse& refuse) const;

  std::string_view prefix_;
  std::vector<std::string_view> names_;
};

// The options of a struct, by its table of rows. Thread safety: constant.
template <class Options>
class OptionSet {
 public:
  using Row = OptionRow<Options>;

  OptionSet(std::string_view prefix, std::span<const Row> rows) : rows_(rows), names_(prefix, names(rows)) {}

  std::string variable(std::string_view name) const { return names_.variable(name); }

  // Sets the options given by the sources and the environment; see OptionNames. Throws ConfigurationError.
  void read(Options& options, const OptionSources& sources, std::vector<std::string>& ignored) const {
    read(options, sources, ignored, [](const std::string& problem) { throw ConfigurationError(problem); });
  }
  // The options given by the sources and the environment, each with its origin, and all problems.
  OptionStates states(const OptionSources& sources) const {
    OptionStates states;
    Options options;
    std::vector<std::string> ignored;
    const std::vector<std::string> origins = read(
        options, sources, ignored, [&](const std::string& problem) { states.problems.push_back(problem); });
    const Options defaults;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      states.options.push_back({.name = names_.full_name(row.name),
                                .variable = variable(row.name),
                                .value = row.print(options),
                                .default_value = row.print(defaults),
                                .unit = std::string(row.unit),
                                .values = row.values(row),
                                .meaning = std::string(row.meaning),
                                .origin = origins[i]});
    }
    return states;
  }
  void set(Options& options, std::string_view name, std::string_view value) const {
    const Row& row = rows_[names_.position(name)];
    row.parse(options, value, row);
  }
  std::string get(const Options& options, std::string_view name) const {
    return rows_[names_.position(name)].print(options);
  }
  // Throws ConfigurationError if a field is outside its range.
  void validate(const Options& options) const {
    // A value that cannot be printed and parsed again is outside its range.
    Options copy;
    for (const Row& row : rows_) row.parse(copy, row.print(options), row);
  }
  // One line per option: name, value, unit; marks values that differ from the default.
  std::string to_text(const Options& options) const {
    const Options defaults;
    std::string text;
    for (const Row& row : rows_) {
      const std::string value = row.print(options);
      const std::string default_value = row.print(defaults);
      text += fmt::format("{} = {}{}{}", row.name, value, row.unit.empty() ? "" : " ", row.unit);
      text += value == default_value ? "\n" : fmt::format(" (default {})\n", default_value);
    }
    return text;
  }
  // The table of a document.
  std::string to_markdown() const {
    const Options defaults;
    std::string text =
        "| Option | Environment variable | Default | Unit | Values | Meaning |\n"
        "|---|---|---|---|---|---|\n";
    for (const Row& row : rows_) {
      text += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", row.name, variable(row.name),
                          row.print(defaults), row.unit, row.values(row), row.meaning);
    }
    return text;
  }

 private:
  // Returns the origin of each option's value.
  std::vector<std::string> read(Options& options, const OptionSources& sources,
                                std::vector<std::string>& ignored, const OptionNames::Refuse& refuse) const {
    std::vector<std::string> origins(rows_.size(), "default");
    for (const auto& [position, value, place, origin] : names_.read(sources, ignored, refuse)) {
      try {
        rows_[position].parse(options, value, rows_[position]);
        origins[position] = origin;
      } catch (const ConfigurationError& error) {
        refuse(fmt::format("{}: {}", place, error.what()));
      }
    }
    return origins;
  }

  static std::vector<std::string_view> names(std::span<const Row> rows) {
    std::vector<std::string_view> names;
    names.reserve(rows.size());
    for (const Row& row : rows) names.push_back(row.name);
    return names;
  }

  std::span<const Row> rows_;
  OptionNames names_;
};

}  // namespace lapse
