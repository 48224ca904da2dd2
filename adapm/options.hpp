// What can be set about a parameter manager, and how it is set: in code, by name, or by environment variables
// ADAPM_<NAME>.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "adapm/action_timer.hpp"
#include "adapm/sampling_options.hpp"
#include "adapm/technique.hpp"
#include "lapse/core/export.hpp"
#include "lapse/core/options.hpp"

namespace lapse {
struct OptionStates;
}

namespace adapm {

// Every field but `server` has one line in the table in options.cpp, which gives its name, unit, range and
// meaning; docs/adaptive-management-options.md is generated from it. All ranks of a manager must have equal
// options.
struct LAPSE_EXPORT Options {
  lapse::Options server = {};  // of the server that the manager contains
  Technique technique = Technique::adaptive;
  double nups_factor = 100;
  std::uint32_t max_rounds_per_second = 0;
  ActionTimer::Settings timing = {};
  SamplingScheme sampling_scheme = SamplingScheme::prelocalised;
  bool sampling_postpone = false;
  std::uint32_t sampling_pool_keys = 250;
  std::uint32_t sampling_pool_uses = 16;
  bool statistics_report = false;
  std::string statistics_file = {};
  std::string trace_keys = {};
  std::string trace_file = "adapm-trace";

  // The defaults, changed by the file that LAPSE_OPTIONS_FILE names and by the environment variables LAPSE_*
  // and ADAPM_<NAME IN CAPITALS>, which are stronger.
  // Throws ConfigurationError as lapse::Options::from_environment does. Variables ADAPM_* that are ignored
  // are among the server's, which warns of them.
  static Options from_environment();
  // With these sources (lapse/core/option_sources.hpp), and without LAPSE_OPTIONS_FILE.
  static Options from_environment(const lapse::OptionSources& sources);

  // One option of the manager, not of its server, from text and as text. Throws ConfigurationError.
  void set(std::string_view name, std::string_view value);
  std::string get(std::string_view name) const;

  // Throws ConfigurationError when a field is outside its range; also of the server's options.
  void validate() const;

  // One line for each option of the manager: name, value, unit; those that are not the default are marked.
  std::string to_text() const;

  bool operator==(const Options&) const = default;
};

// All options of the manager with their values, and all that is wrong with the sources and the environment.
LAPSE_EXPORT lapse::OptionStates option_states(const lapse::OptionSources& sources);

}  // namespace adapm
