#include "lapse/core/options.hpp"

#include <fmt/format.h>

#include <array>

#include "lapse/core/error.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/core/options/option_set.hpp"
#include "lapse/core/options/option_table.hpp"

namespace lapse {

namespace {

template <auto Field>
constexpr OptionRow<Options> option(std::string_view name, std::string_view unit, std::uint64_t minimum,
                                    std::uint64_t maximum, std::string_view meaning) {
  return option_row<Options, Field>(name, unit, minimum, maximum, meaning);
}

// An option whose values are words.
template <auto Field>
constexpr OptionRow<Options> option(std::string_view name, std::string_view meaning) {
  return option<Field>(name, "", 0, 0, meaning);
}

constexpr std::uint32_t kSmallestEagerBytes = 256;  // Space for the headers and a key.
constexpr std::uint64_t kTebibyte = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMinuteInMicroseconds = 60'000'000;
constexpr std::uint64_t kDayInSeconds = 86'400;

// clang-format off
constexpr std::array kOptions{
    option<&Options::domain>("domain",
        "Which ranks share the memory of dense tables: all of a host, none, or groups of this many ranks of a host."),
    option<&Options::location_caches>("location_caches",
        "Remember where keys were found last and ask there first, before their home."),
    option<&Options::max_outstanding_operations>("max_outstanding_operations", "operations", 1, limits::kOperationsOfWorker,
        "A worker with this many unanswered operations waits before it starts another."),
    option<&Options::max_outstanding_bytes>("max_outstanding_bytes", "bytes", 4096, kTebibyte,
        "A worker whose unanswered operations have this much payload waits before it starts another."),
    option<&Options::helping>("helping",
        "Workers that wait drive the progress engine of their rank meanwhile."),
    option<&Options::host_rings>("host_rings",
        "Packets between ranks of a host go through rings in memory that they share; off: by messages of MPI."),
    option<&Options::rma>("rma",
        "Remote memory access between hosts: for bulk payloads where it is faster than messages; for them and to look up owners wherever it works; never."),
    option<&Options::progress_spin>("progress_spin", "us", 0, kMinuteInMicroseconds,
        "The server progress thread polls, yielding, for this long after the last message before it sleeps."),
    option<&Options::progress_sleep_min>("progress_sleep_min", "us", 1, kMinuteInMicroseconds,
        "First and shortest sleep of the server progress thread; each sleep without a message is longer than the one before."),
    option<&Options::progress_sleep_max>("progress_sleep_max", "us", 1, kMinuteInMicroseconds,
        "Longest sleep of the server progress thread."),
    option<&Options::eager_buffers>("eager_buffers", "buffers", 2, 65536,
        "Receive buffers that each rank keeps posted."),
    option<&Options::eager_bytes>("eager_bytes", "bytes", 0, 1U << 24U,
        "Largest message that is sent without being announced first; 0: chosen from the limit of the MPI library."),
    option<&Options::checkpoint_files>("checkpoint_files",
        "How many files a checkpoint has: one of each host, one of each rank, or this many in all."),
    option<&Options::stall_report>("stall_report", "s", 0, kDayInSeconds,
        "A wait that takes longer than this is logged with what it waits for and the rank that keeps it waiting; 0: never."),
    option<&Options::log_level>("log_level",
        "The least urgent messages that are logged."),
    option<&Options::startup_report>("startup_report",
        "Rank 0 logs host, binding, thread level and options at the start, at level info."),
    option<&Options::region_trace>("region_trace",
        "A folder, in which each rank writes a trace of what its threads wait for, to be drawn by viewers; empty: none."),
};
// clang-format on

OptionSet<Options> option_set() {
  return {"LAPSE_", kOptions};
}

}  // namespace

std::span<const OptionRow<Options>> option_table() {
  return kOptions;
}

Options Options::from_environment() {
  return from_environment(OptionSources(OptionsFile::read_named().settings()));
}

Options Options::from_environment(const OptionSources& sources) {
  Options options;
  std::vector<std::string> ignored;
  option_set().read(options, sources, ignored);
  options.ignored_variables = std::move(ignored);
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
  option_set().validate(*this);
  if (progress_sleep_min > progress_sleep_max) {
    throw ConfigurationError(
        fmt::format("option progress_sleep_min ({} us) exceeds progress_sleep_max ({} us)",
                    progress_sleep_min.count(), progress_sleep_max.count()));
  }
  if (eager_bytes != 0 && eager_bytes < kSmallestEagerBytes) {
    throw ConfigurationError(fmt::format("option eager_bytes cannot be {}: expected 0 or at least {} bytes",
                                         eager_bytes, kSmallestEagerBytes));
  }
}

std::string Options::to_text() const {
  return option_set().to_text(*this);
}

OptionStates option_states(const OptionSources& sources) {
  return option_set().states(sources);
}

std::optional<std::string> ignored_variables_warning(const Options& options) {
  const auto& variables = options.ignored_variables;
  if (variables.empty()) return std::nullopt;
  const bool one = variables.size() == 1;
  return fmt::format("the environment variable{} {} belong{} to no option and {} ignored", one ? "" : "s",
                     fmt::join(variables, ", "), one ? "s" : "", one ? "is" : "are");
}

std::string options_document() {
  const auto installation = OptionNames::installation_names();
  const std::string text = fmt::format(
      "# Options\n\n"
      "Generated by the program `lapse_options_doc` from the table in `lapse/core/options.cpp`.\n\n"
      "An option is set in code (`options.eager_buffers = 128`) or by name (`options.set(\"eager_buffers\", "
      "\"128\")`).\n"
      "A server that is made without options, and `lapse::Options::from_environment()`, take them from\n\n"
      "1. the defaults,\n"
      "2. the file that `LAPSE_OPTIONS_FILE` names,\n"
      "3. environment variables, of which an empty one counts as unset;\n\n"
      "later ones win.\n"
      "Applications take `--set NAME=VALUE` on their command line, which wins over all of these.\n\n"
      "The file has lines `NAME = VALUE`; a `#` at the begin of a word begins a comment.\n"
      "In the file and on the command line, `lapse.` stands before the name of an option of this page,\n"
      "and `adapm.` before that of [an option of the parameter manager](adaptive-management-options.md):\n\n"
      "    # For all jobs on this cluster.\n"
      "    lapse.progress_spin = 50\n"
      "    adapm.technique = adaptive\n\n"
      "Rank 0 reads the file for all ranks where a server or manager is made without options, "
      "and in applications.\n"
      "An unknown name, an impossible value and an option that is set twice are errors, with the line.\n\n"
      "`lapse-options` prints all options with their values and where these come from, and needs no MPI.\n"
      "Its status is 1 where file, environment or command line have an error: a check before a job.\n\n"
      "    lapse-options                                     # text, for people\n"
      "    lapse-options --json --file my.options --set lapse.domain=2\n\n"
      "A variable `LAPSE_*` that is no option's but whose name is nearly one is an error.\n"
      "Variables that module files set for an installation are ignored:\n"
      "`LAPSE_` followed by {},\n"
      "{}.\n"
      "Any other variable `LAPSE_*` is ignored, too;\n"
      "when rank 0 of `MPI_COMM_WORLD` makes its first server,\n"
      "it names those of all ranks of that server in one warning.\n\n",
      fmt::join(installation.first(8), ", "), fmt::join(installation.subspan(8), ", "));
  return text + option_set().to_markdown();
}

}  // namespace lapse
