#include "adapm/options.hpp"

#include <fmt/format.h>

#include <array>

#include "adapm/tracing/traced_keys.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/options/option_set.hpp"

namespace adapm {

namespace {

using lapse::ConfigurationError;
using lapse::option;
using lapse::words;

// clang-format off
lapse::OptionSet option_set(Options& o) {
  return {"ADAPM_", {
    option("technique", o.technique, words(kTechniques),
        "How keys are managed; all but the first are for comparison."),
    option("nups_factor", o.nups_factor, "", 0, 1'000'000'000,
        "The technique nups replicates the keys that are accessed more often than this many times the mean."),
    option("max_rounds_per_second", o.max_rounds_per_second, "rounds", 0, 1'000'000,
        "A rank begins at most this many rounds of communication in a second; 0: no limit."),
    option("timing_smoothing", o.timing.smoothing, "", 0, 1,
        "Action timing: weight of a round in the estimate of clocks in a round."),
    option("timing_quantile", o.timing.quantile, "", 0, 1,
        "Action timing: probability that a worker does not get past the estimate, exclusive of 0 and 1."),
    option("timing_initial_rate", o.timing.initial_rate, "clocks", 0, 1'000'000'000,
        "Action timing: clocks in a round, before there was one."),
    option("sampling_scheme", o.sampling_scheme, words(kSamplingSchemes),
        "How samplers choose keys, unless the program says so."),
    option("sampling_postpone", o.sampling_postpone,
        "Likewise: keys of a sample that are not local when they are pulled come after later ones."),
    option("sampling_pool_keys", o.sampling_pool_keys, "keys", 1, 1'000'000'000,
        "Likewise: the scheme pool draws this many keys at once."),
    option("sampling_pool_uses", o.sampling_pool_uses, "", 1, 1'000'000'000,
        "Likewise: the scheme pool uses each of them this many times."),
    option("statistics_report", o.statistics_report,
        "Rank 0 logs the statistics of all ranks when the manager is closed."),
    option("statistics_file", o.statistics_file,
        "Rank 0 writes them to this file, as JSON; none: no file."),
    option("trace_keys", o.trace_keys,
        "Keys whose events are traced, `table:key,key;table:key`; empty: no trace."),
    option("trace_file", o.trace_file,
        "Prefix of the trace files; each rank appends a dot and its number."),
  }};
}
// clang-format on

}  // namespace

Options Options::from_environment() {
  return from_environment(lapse::OptionSources(lapse::OptionsFile::read_named().settings()));
}

Options Options::from_environment(const lapse::OptionSources& sources) {
  Options options;
  options.server = lapse::Options::from_environment(sources);
  option_set(options).read(sources, options.server.ignored_variables);
  options.validate();
  return options;
}

void Options::set(std::string_view name, std::string_view value) {
  option_set(*this).set(name, value);
}

std::string Options::get(std::string_view name) const {
  Options copy = *this;
  return option_set(copy).get(name);
}

void Options::validate() const {
  server.validate();
  Options copy = *this;
  option_set(copy).validate();
  traced_keys(trace_keys);
  if (!trace_keys.empty() && trace_file.empty())
    throw ConfigurationError("option trace_file cannot be empty where trace_keys is not");
  if (timing.quantile <= 0 || timing.quantile >= 1) {
    throw ConfigurationError(
        fmt::format("option timing_quantile cannot be {}: expected a number between 0 and 1, exclusive",
                    timing.quantile));
  }
}

std::string Options::to_text() const {
  Options copy = *this;
  Options defaults;
  return option_set(copy).to_text(option_set(defaults));
}

lapse::OptionStates option_states(const lapse::OptionSources& sources) {
  Options options;
  return option_set(options).read_states(sources);
}

}  // namespace adapm
