#include "lapse/core/options.hpp"

#include <fmt/format.h>

#include <array>

#include "lapse/core/error.hpp"
#include "lapse/core/limits.hpp"
#include "lapse/core/options/option_set.hpp"
#include "lapse/core/options/option_states.hpp"

namespace lapse {

namespace {

// Two words or a number.
template <class Choice>
Option host_rank_or_number(std::string_view name, Choice& field, std::int32_t Choice::*number,
                           std::string_view things, std::string_view meaning) {
  const auto parse = [&field, number](std::string_view text) {
    Choice choice{text == "host"   ? Choice::Kind::host
                  : text == "rank" ? Choice::Kind::rank
                                   : Choice::Kind::number};
    if (choice.kind == Choice::Kind::number && (!parse_number(text, choice.*number) || choice.*number < 1))
      return false;
    field = choice;
    return true;
  };
  const auto print = [&field, number] {
    if (field.kind == Choice::Kind::number) return std::to_string(field.*number);
    return std::string(field.kind == Choice::Kind::host ? "host" : "rank");
  };
  return {name, meaning, fmt::format("host, rank, or a number of {}", things), parse, print};
}

constexpr std::uint32_t kSmallestEagerBytes = 256;  // Space for the headers and a key.
constexpr std::uint64_t kTebibyte = std::uint64_t{1} << 40U;
constexpr std::uint64_t kMinuteInMicroseconds = 60'000'000;
constexpr std::uint64_t kDayInSeconds = 86'400;

// clang-format off
OptionSet option_set(Options& o) {
  return {"LAPSE_", {
    host_rank_or_number("domain", o.domain, &DomainChoice::ranks, "ranks",
        "Which ranks share the memory of dense tables: all of a host, none, or groups of this many ranks of a host."),
    option("location_caches", o.location_caches,
        "Remember where keys were found last and ask there first, before their home."),
    option("max_outstanding_operations", o.max_outstanding_operations, "operations", 1, limits::kOperationsOfWorker,
        "A worker with this many unanswered operations waits before it starts another."),
    option("max_outstanding_bytes", o.max_outstanding_bytes, "bytes", 4096, kTebibyte,
        "A worker whose unanswered operations have this much payload waits before it starts another."),
    option("helping", o.helping, Words<Helping>{{"on", Helping::on}, {"off", Helping::off}},
        "Workers that wait drive the progress engine of their rank meanwhile."),
    option("host_rings", o.host_rings,
        "Packets between ranks of a host go through rings in memory that they share; off: by messages of MPI."),
    option("rma", o.rma, Words<RmaChoice>{{"auto", RmaChoice::automatic}, {"on", RmaChoice::on}, {"off", RmaChoice::off}},
        "Remote memory access between hosts: for bulk payloads where it is faster than messages; for them and to look up owners wherever it works; never."),
    option("progress_spin", o.progress_spin, "us", 0, kMinuteInMicroseconds,
        "The server progress thread polls, yielding, for this long after the last message before it sleeps."),
    option("progress_sleep_min", o.progress_sleep_min, "us", 1, kMinuteInMicroseconds,
        "First and shortest sleep of the server progress thread; each sleep without a message is longer than the one before."),
    option("progress_sleep_max", o.progress_sleep_max, "us", 1, kMinuteInMicroseconds,
        "Longest sleep of the server progress thread."),
    option("eager_buffers", o.eager_buffers, "buffers", 2, 65536,
        "Receive buffers that each rank keeps posted."),
    option("eager_bytes", o.eager_bytes, "bytes", 0, 1U << 24U,
        "Largest message that is sent without being announced first; 0: chosen from the limit of the MPI library."),
    host_rank_or_number("checkpoint_files", o.checkpoint_files, &CheckpointFiles::files, "files",
        "How many files a checkpoint has: one of each host, one of each rank, or this many in all."),
    option("stall_report", o.stall_report, "s", 0, kDayInSeconds,
        "A wait that takes longer than this is logged with what it waits for and the rank that keeps it waiting; 0: never."),
    option("log_level", o.log_level, words(std::array{LogLevel::error, LogLevel::warning, LogLevel::info, LogLevel::debug}),
        "The least urgent messages that are logged."),
    option("startup_report", o.startup_report,
        "Rank 0 logs host, binding, thread level and options at the start, at level info."),
    option("region_trace", o.region_trace,
        "A folder, in which each rank writes a trace of what its threads wait for, to be drawn by viewers; empty: none."),
    option("allocation_trace", o.allocation_trace,
        "Prefix of files, one of each rank, with who owned which key when, for lapse-viewer; each rank appends a dot and its number; empty: none."),
    option("allocation_trace_keys", o.allocation_trace_keys,
        "Keys in these files: `all`, or `table:keys;table:keys`, where keys are `all`, `1,5,10-19` or `random 100 seed 3 range 0-999`."),
    option("allocation_trace_events", o.allocation_trace_events,
        Words<TraceEvents>{{"allocation", TraceEvents::allocation}, {"intents", TraceEvents::intents}, {"accesses", TraceEvents::accesses}},
        "What these files record of a key: owners and replicas; also when intents want it; also each access, which becomes slower."),
    option("allocation_trace_bytes", o.allocation_trace_bytes, "bytes", 1U << 16U, kTebibyte,
        "A rank whose file has reached this size records no more changes, and says so in it."),
  }};
}
// clang-format on

}  // namespace

Options Options::from_environment() {
  return from_environment(OptionSources(OptionsFile::read_named().settings()));
}

Options Options::from_environment(const OptionSources& sources) {
  Options options;
  option_set(options).read(sources, options.ignored_variables);
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
  Options copy = *this;
  option_set(copy).validate();
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
  Options copy = *this;
  Options defaults;
  return option_set(copy).to_text(option_set(defaults));
}

OptionStates option_states(const OptionSources& sources) {
  Options options;
  return option_set(options).read_states(sources);
}

std::optional<std::string> ignored_variables_warning(const Options& options) {
  const auto& variables = options.ignored_variables;
  if (variables.empty()) return std::nullopt;
  const bool one = variables.size() == 1;
  return fmt::format("the environment variable{} {} belong{} to no option and {} ignored", one ? "" : "s",
                     fmt::join(variables, ", "), one ? "s" : "", one ? "is" : "are");
}

}  // namespace lapse
