#include "adapm/options.hpp"

#include <fmt/format.h>

#include <array>

#include "adapm/tracing/traced_keys.hpp"
#include "lapse/core/error.hpp"
#include "lapse/core/options/option_set.hpp"

namespace adapm {

namespace {

template <class Value, std::size_t count>
constexpr auto words(const std::array<Value, count>& values) {
  std::array<lapse::detail::Word<Value>, count> words;
  for (std::size_t i = 0; i < count; ++i) words[i] = {to_string(values[i]), values[i]};
  return words;
}

}  // namespace

}  // namespace adapm

template <>
struct lapse::detail::Words<adapm::Technique> {
  static constexpr std::array table = adapm::words(adapm::kTechniques);
};

template <>
struct lapse::detail::Words<adapm::SamplingScheme> {
  static constexpr std::array table = adapm::words(adapm::kSamplingSchemes);
};

namespace adapm {

namespace {

using lapse::ConfigurationError;
using Row = lapse::OptionRow<Options>;

template <auto Field>
constexpr Row option(std::string_view name, std::string_view unit, std::uint64_t minimum,
                     std::uint64_t maximum, std::string_view meaning) {
  return lapse::option_row<Options, Field>(name, unit, minimum, maximum, meaning);
}

// Fields of a field.
constexpr auto kSmoothing = [](auto& options) -> auto& {
  return options.timing.smoothing;
};
constexpr auto kQuantile = [](auto& options) -> auto& {
  return options.timing.quantile;
};
constexpr auto kInitialRate = [](auto& options) -> auto& {
  return options.timing.initial_rate;
};

// clang-format off
constexpr std::array kOptions{
    option<&Options::technique>("technique", "", 0, 0,
        "How keys are managed; all but the first are for comparison."),
    option<&Options::nups_factor>("nups_factor", "", 0, 1'000'000'000,
        "The technique nups replicates the keys that are accessed more often than this many times the mean."),
    option<&Options::max_rounds_per_second>("max_rounds_per_second", "rounds", 0, 1'000'000,
        "A rank begins at most this many rounds of communication in a second; 0: no limit."),
    option<kSmoothing>("timing_smoothing", "", 0, 1,
        "Action timing: weight of a round in the estimate of clocks in a round."),
    option<kQuantile>("timing_quantile", "", 0, 1,
        "Action timing: probability that a worker does not get past the estimate, exclusive of 0 and 1."),
    option<kInitialRate>("timing_initial_rate", "clocks", 0, 1'000'000'000,
        "Action timing: clocks in a round, before there was one."),
    option<&Options::sampling_scheme>("sampling_scheme", "", 0, 0,
        "How samplers choose keys, unless the program says so."),
    option<&Options::sampling_postpone>("sampling_postpone", "", 0, 0,
        "Likewise: keys of a sample that are not local when they are pulled come after later ones."),
    option<&Options::sampling_pool_keys>("sampling_pool_keys", "keys", 1, 1'000'000'000,
        "Likewise: the scheme pool draws this many keys at once."),
    option<&Options::sampling_pool_uses>("sampling_pool_uses", "", 1, 1'000'000'000,
        "Likewise: the scheme pool uses each of them this many times."),
    option<&Options::statistics_report>("statistics_report", "", 0, 0,
        "Rank 0 logs the statistics of all ranks when the manager is closed."),
    option<&Options::statistics_file>("statistics_file", "", 0, 0,
        "Rank 0 writes them to this file, as JSON; none: no file."),
    option<&Options::trace_keys>("trace_keys", "", 0, 0,
        "Keys of which is written down what happens to them, `table:key,key;table:key`; none: nothing is."),
    option<&Options::trace_file>("trace_file", "", 0, 0,
        "Each rank writes this to a file of this name, to which a dot and its number are appended."),
};
// clang-format on

lapse::OptionSet<Options> option_set() {
  return {"ADAPM_", kOptions};
}

}  // namespace

Options Options::from_environment() {
  return from_environment(lapse::OptionSources(lapse::OptionsFile::read_named().settings()));
}

Options Options::from_environment(const lapse::OptionSources& sources) {
  Options options;
  options.server = lapse::Options::from_environment(sources);
  option_set().read(options, sources, options.server.ignored_variables);
  options.validate();
  return options;
}

void Options::set(std::string_view name, std::string_view value) {
  option_set().set(*this, name, value);
}

std::string Options::get(std::string_view name) const {
  return option_set().get(*this, name);
}

void Options::validate() const {
  server.validate();
  option_set().validate(*this);
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
  return option_set().to_text(*this);
}

lapse::OptionStates option_states(const lapse::OptionSources& sources) {
  return option_set().states(sources);
}

std::string options_document() {
  return "# Options of the parameter manager\n\n"
         "Generated by the program `adapm_options_doc` from the table in `adapm/options.cpp`.\n\n"
         "An option is set in code (`options.technique = adapm::Technique::nups`),\n"
         "by name (`options.set(\"technique\", \"nups\")`),\n"
         "or by a file, its environment variable or `--set adapm.technique=nups`:\n"
         "see [the page of the server's options](options.md), also for variables that are no option's.\n"
         "Those options are `options.server` here.\n"
         "[Adaptive management](adaptive-management.md) describes the techniques.\n\n" +
         option_set().to_markdown();
}

}  // namespace adapm
