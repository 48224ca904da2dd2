// Options of all applications for checkpoints, stopping and resuming.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/common/option_conditions.hpp"
#include "lapse/jobs/job_control.hpp"

namespace CLI {
class App;
}

namespace lapse::apps {

struct CheckpointOptions {
  std::string folder = {};        // empty: no checkpoints, and the other fields are ignored
  std::string local_folder = {};  // written first; empty: none
  CheckpointInterval interval{.time = std::chrono::minutes(10)};
  std::optional<std::size_t> keep = 2;  // nullopt: all
  bool resume = false;
  std::optional<std::uint64_t> resume_step = {};  // nullopt: the newest
  int stop_status = 75;                           // the exit status of a program that stopped early
  std::vector<int> signals{SIGUSR1, SIGTERM};
  std::chrono::seconds stop_before{120};  // the end of the Slurm job; and the limit after SIGTERM
};

// Whether workers of the program have clocks.
enum class WorkerClocks : std::uint8_t { none, batches };

// The parser fills in `options`.
void add_checkpoint_options(CLI::App& app, CheckpointOptions& options, OptionConditions& conditions,
                            WorkerClocks clocks = WorkerClocks::batches);

// Parses "5epochs", "10minutes", "1000clocks", several of these separated by commas, or "never". Units may be
// singular, or s, m, h. Throws ConfigurationError.
CheckpointInterval parse_interval(std::string_view text);
// Parses "USR1,TERM" or "none". Throws ConfigurationError.
std::vector<int> parse_signals(std::string_view text);

}  // namespace lapse::apps
