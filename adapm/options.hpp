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

// The table in options.cpp has one line for every field except `server`: name, unit, range and meaning.
// docs/adaptive-management-options.md is generated from it. All ranks of a manager need equal options.
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

  // The defaults, overridden by the file that LAPSE_OPTIONS_FILE names, and that by the environment variables
  // LAPSE_* and ADAPM_<NAME IN CAPITALS>. Throws ConfigurationError as lapse::Options::from_environment does.
  // Ignored ADAPM_* variables are listed in the server's options; the server warns of them.
  static Options from_environment();
  // Like from_environment(), from these sources (lapse/core/option_sources.hpp), without LAPSE_OPTIONS_FILE.
  static Options from_environment(const lapse::OptionSources& sources);

  // Sets and gets one option of the manager, not of its server, as text. Throws ConfigurationError.
  void set(std::string_view name, std::string_view value);
  std::string get(std::string_view name) const;

  // Throws ConfigurationError if a field, also one of the server's options, is outside its range.
  void validate() const;

  // One line for each option of the manager: name, value, unit, and a mark unless it has the default value.
  std::string to_text() const;

  bool operator==(const Options&) const = default;
};

// All options of the manager with their values, and all errors in the sources and the environment.
LAPSE_EXPORT lapse::OptionStates option_states(const lapse::OptionSources& sources);

}  // namespace adapm
