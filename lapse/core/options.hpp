// The options of a server. They are set in code, by name, or by environment variables LAPSE_<NAME>.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lapse/core/export.hpp"

namespace lapse {

struct OptionSources;

// Which ranks share the memory of dense tables.
struct DomainChoice {
  enum class Kind : std::uint8_t {
    host,    // all of a host
    rank,    // none
    number,  // groups of `ranks` of a host
  };
  Kind kind = Kind::host;
  std::int32_t ranks = 1;

  bool operator==(const DomainChoice&) const = default;
};

// The number of files of a checkpoint.
struct CheckpointFiles {
  enum class Kind : std::uint8_t {
    host,    // one of each host
    rank,    // one of each rank
    number,  // `files` in all
  };
  Kind kind = Kind::host;
  std::int32_t files = 1;

  bool operator==(const CheckpointFiles&) const = default;
};

enum class Helping : std::uint8_t { on, off };
// What a trace of allocation records, each also what those before it do.
enum class TraceEvents : std::uint8_t { allocation, intents, accesses };

// Remote memory access for bulk payloads between hosts.
enum class RmaChoice : std::uint8_t {
  automatic,  // where it is faster than messages
  on,         // also within a host, if there is only one
  off,
};

// From the most to the least urgent.
enum class LogLevel : std::uint8_t { error, warning, info, debug };

LAPSE_EXPORT std::string_view to_string(LogLevel level);

// Described by the table in options.cpp and docs/options.md. All ranks of a server must have equal options.
struct LAPSE_EXPORT Options {
  DomainChoice domain = {};
  bool location_caches = true;
  std::uint32_t max_outstanding_operations = 1024;
  std::uint64_t max_outstanding_bytes = std::uint64_t{256} << 20U;
  Helping helping = Helping::on;
  bool host_rings = true;
  RmaChoice rma = RmaChoice::automatic;
  std::chrono::microseconds progress_spin{200};
  std::chrono::microseconds progress_sleep_min{100};
  std::chrono::microseconds progress_sleep_max{1000};
  std::uint32_t eager_buffers = 64;
  std::uint32_t eager_bytes = 0;
  CheckpointFiles checkpoint_files = {};
  std::chrono::seconds stall_report{60};
  LogLevel log_level = LogLevel::warning;
  bool startup_report = true;
  std::string region_trace = {};
  std::string allocation_trace = {};
  std::string allocation_trace_keys = "all";
  TraceEvents allocation_trace_events = TraceEvents::allocation;
  std::uint64_t allocation_trace_bytes = std::uint64_t{256} << 20U;

  // Not an option: the variables LAPSE_* that from_environment found and ignored, of a server: on any rank.
  std::vector<std::string> ignored_variables = {};

  // The defaults, overridden by the file that LAPSE_OPTIONS_FILE names, then by variables LAPSE_<NAME IN
  // CAPITALS>. Throws ConfigurationError, on this rank only, for problems in the file, a name that is nearly
  // an option's, and a value that set or validate refuses; lists other variables in ignored_variables.
  static Options from_environment();
  // Like from_environment, with these sources (lapse/core/option_sources.hpp) and without LAPSE_OPTIONS_FILE.
  static Options from_environment(const OptionSources& sources);

  // Sets one option from text. Throws ConfigurationError, with no effect, for an unknown name or a bad value.
  void set(std::string_view name, std::string_view value);
  // The value of one option, as set accepts it. Throws ConfigurationError for an unknown name.
  std::string get(std::string_view name) const;
  // Throws ConfigurationError if a field is outside its range or two fields contradict each other.
  void validate() const;
  // One line per option: name, value, unit; marks values that differ from the default.
  std::string to_text() const;

  bool operator==(const Options&) const = default;
};

}  // namespace lapse
