#include "lapse/core/options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "lapse/core/error.hpp"
#include "lapse/core/nearest_names.hpp"
#include "lapse/core/option_format.hpp"
#include "lapse/core/option_table.hpp"

namespace lapse {

namespace {

constexpr std::string_view kEnvironmentPrefix = "LAPSE_";

template <auto Field>
constexpr OptionDescription option(std::string_view name, std::string_view unit, std::uint64_t minimum,
                                   std::uint64_t maximum, std::string_view meaning) {
  using Value = std::remove_cvref_t<decltype(std::declval<Options>().*Field)>;
  return {.name = name,
          .unit = unit,
          .minimum = minimum,
          .maximum = maximum,
          .meaning = meaning,
          .parse =
              [](Options& options, std::string_view text, const OptionDescription& description) {
                options.*Field = detail::OptionFormat<Value>::parse(text, description);
              },
          .print = [](const Options& options) { return detail::OptionFormat<Value>::print(options.*Field); },
          .values =
              [](const OptionDescription& description) {
                return detail::OptionFormat<Value>::values(description);
              }};
}

// An option whose values are words.
template <auto Field>
constexpr OptionDescription option(std::string_view name, std::string_view meaning) {
  return option<Field>(name, "", 0, 0, meaning);
}

constexpr std::uint32_t kSmallestEagerBytes = 256;  // Room for the headers and a key.
constexpr std::uint64_t kMaximum32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kTebibyte = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMinuteInMicroseconds = 60'000'000;
constexpr std::uint64_t kDayInSeconds = 86'400;

// clang-format off
constexpr std::array kOptions{
    option<&Options::domain>("domain",
        "Which ranks share the memory of dense tables: all of a host, none, or groups of so many ranks of a host."),
    option<&Options::location_caches>("location_caches",
        "Remember where keys were found last and ask there first, before their home."),
    option<&Options::max_outstanding_operations>("max_outstanding_operations", "operations", 1, kMaximum32,
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
    option<&Options::stall_report>("stall_report", "s", 0, kDayInSeconds,
        "A wait that takes longer than this is logged with what it waits for and the rank that keeps it waiting; 0: never."),
    option<&Options::log_level>("log_level",
        "The least urgent messages that are logged."),
    option<&Options::startup_report>("startup_report",
        "Rank 0 logs host, binding, thread level and options at the start, at level info."),
};
// clang-format on

std::vector<std::string_view> option_names() {
  std::vector<std::string_view> names;
  names.reserve(kOptions.size());
  for (const OptionDescription& description : kOptions) names.push_back(description.name);
  return names;
}

const OptionDescription& description_of(std::string_view name) {
  const auto found =
      std::find_if(kOptions.begin(), kOptions.end(),
                   [&](const OptionDescription& description) { return description.name == name; });
  if (found == kOptions.end()) {
    throw ConfigurationError(
        fmt::format("there is no option '{}'{}", name, did_you_mean(name, option_names())));
  }
  return *found;
}

// What module files and package managers say about an installation, after LAPSE_.
constexpr std::array<std::string_view, 16> kInstallationNames{
    "BASE",         "BIN", "DIR",     "DOC", "HOME", "INC",    "INCLUDE", "INCLUDE_DIR",
    "INSTALL_ROOT", "LIB", "LIB_DIR", "MAN", "PATH", "PREFIX", "ROOT",    "VERSION"};

std::string upper_case(std::string_view name) {
  std::string text;
  for (const char c : name) text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

// Decides about a variable LAPSE_* that belongs to no option: refuses or lists it, or neither.
void handle_unknown_variable(std::string_view variable, Options& options) {
  const std::string name = upper_case(variable.substr(kEnvironmentPrefix.size()));
  if (std::ranges::find(kInstallationNames, name) != kInstallationNames.end()) return;
  std::vector<std::string> variables;
  variables.reserve(kOptions.size());
  for (const OptionDescription& description : kOptions) variables.push_back(description.environment_name());
  // Compared without the prefix, which would make every short name a near one.
  std::vector<std::string_view> names;
  names.reserve(kOptions.size());
  for (const std::string_view known : variables) names.push_back(known.substr(kEnvironmentPrefix.size()));
  std::vector<std::string> meant;
  for (const std::string_view near : nearest_names(name, names)) {
    if (is_misspelled(name, std::span(&near, 1)))
      meant.push_back(fmt::format("{}{}", kEnvironmentPrefix, near));
  }
  if (meant.empty()) {
    options.ignored_variables.emplace_back(variable);
    return;
  }
  throw ConfigurationError(
      fmt::format("the environment variable {} belongs to no option (did you mean '{}'?)", variable,
                  fmt::join(meant, "' or '")));
}

}  // namespace

std::string OptionDescription::environment_name() const {
  return std::string(kEnvironmentPrefix) + upper_case(name);
}

std::span<const OptionDescription> option_table() {
  return kOptions;
}

Options Options::from_environment() {
  Options options;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view assignment(*entry);
    if (!assignment.starts_with(kEnvironmentPrefix)) continue;
    const std::size_t equals = assignment.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view variable = assignment.substr(0, equals);
    const auto found = std::find_if(
        kOptions.begin(), kOptions.end(),
        [&](const OptionDescription& description) { return description.environment_name() == variable; });
    if (found == kOptions.end()) {
      handle_unknown_variable(variable, options);
      continue;
    }
    try {
      found->parse(options, assignment.substr(equals + 1), *found);
    } catch (const ConfigurationError& error) {
      throw ConfigurationError(fmt::format("environment variable {}: {}", variable, error.what()));
    }
  }
  options.validate();
  return options;
}

void Options::set(std::string_view name, std::string_view value) {
  const OptionDescription& description = description_of(name);
  description.parse(*this, value, description);
}

std::string Options::get(std::string_view name) const {
  return description_of(name).print(*this);
}

void Options::validate() const {
  // What cannot be printed and read again is outside its range.
  Options copy;
  for (const OptionDescription& description : kOptions)
    description.parse(copy, description.print(*this), description);
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
  const Options defaults;
  std::string text;
  for (const OptionDescription& description : kOptions) {
    const std::string value = description.print(*this);
    const std::string default_value = description.print(defaults);
    text += fmt::format("{} = {}{}{}", description.name, value, description.unit.empty() ? "" : " ",
                        description.unit);
    text += value == default_value ? "\n" : fmt::format(" (default {})\n", default_value);
  }
  return text;
}

std::optional<std::string> ignored_variables_warning(const Options& options) {
  const auto& variables = options.ignored_variables;
  if (variables.empty()) return std::nullopt;
  const bool one = variables.size() == 1;
  return fmt::format("the environment variable{} {} belong{} to no option and {} ignored", one ? "" : "s",
                     fmt::join(variables, ", "), one ? "s" : "", one ? "is" : "are");
}

std::string options_document() {
  const Options defaults;
  std::string text = fmt::format(
      "# Options\n\n"
      "Generated by the program `lapse_options_doc` from the table in `lapse/core/options.cpp`.\n\n"
      "An option is set in code (`options.eager_buffers = 128`), by name (`options.set(\"eager_buffers\", "
      "\"128\")`),\n"
      "or, where the program uses `lapse::Options::from_environment()`, by its environment variable.\n\n"
      "A variable `LAPSE_*` that is no option's but whose name is nearly one is an error.\n"
      "Variables that module files set for an installation are ignored:\n"
      "`LAPSE_` followed by {},\n"
      "{}.\n"
      "Any other variable `LAPSE_*` is ignored, too;\n"
      "when rank 0 of `MPI_COMM_WORLD` makes its first server,\n"
      "it names those of all ranks of that server in one warning.\n\n"
      "| Option | Environment variable | Default | Unit | Values | Meaning |\n"
      "|---|---|---|---|---|---|\n",
      fmt::join(std::span(kInstallationNames).first<8>(), ", "),
      fmt::join(std::span(kInstallationNames).subspan<8>(), ", "));
  for (const OptionDescription& description : kOptions) {
    text += fmt::format("| `{}` | `{}` | {} | {} | {} | {} |\n", description.name,
                        description.environment_name(), description.print(defaults), description.unit,
                        description.values(description), description.meaning);
  }
  return text;
}

}  // namespace lapse
