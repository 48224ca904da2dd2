#include "apps/common/checkpoint_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cstdint>
#include <utility>

#include "apps/common/option_values.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

// Calls f for each part between commas.
template <class F>
void for_each_part(std::string_view text, F&& f) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    f(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

[[noreturn]] void refuse_interval(std::string_view text) {
  throw ConfigurationError(fmt::format(
      "'{}', expected such as 5epochs, 10minutes, 1000clocks, several separated by commas, or never", text));
}

std::chrono::seconds seconds_of(std::uint64_t number, std::uint64_t unit, std::string_view text) {
  constexpr std::uint64_t kMaxSeconds = std::uint64_t{100} * 365 * 86400;
  if (number > kMaxSeconds / unit) refuse_interval(text);
  return std::chrono::seconds(number * unit);
}

// A CLI11 option whose errors are the exceptions of parse.
template <class F>
void parse_option(const char* option, F&& parse) {
  try {
    parse();
  } catch (const ConfigurationError& error) {
    throw CLI::ValidationError(option, error.what());
  }
}

}  // namespace

CheckpointInterval parse_interval(std::string_view text) {
  CheckpointInterval interval;
  if (text == "never") return interval;
  for_each_part(text, [&](std::string_view part) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc{} || number == 0) refuse_interval(text);
    std::string_view unit = part.substr(static_cast<std::size_t>(end - part.data()));
    if (unit.size() > 2 && unit.back() == 's') unit.remove_suffix(1);
    if (unit == "epoch") {
      interval.epochs = number;
    } else if (unit == "clock") {
      interval.clocks = number;
    } else if (unit == "s" || unit == "second") {
      interval.time = seconds_of(number, 1, text);
    } else if (unit == "m" || unit == "minute") {
      interval.time = seconds_of(number, 60, text);
    } else if (unit == "h" || unit == "hour") {
      interval.time = seconds_of(number, 3600, text);
    } else {
      refuse_interval(text);
    }
  });
  return interval;
}

std::vector<int> parse_signals(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, int>, 5> kSignals{
      {{"USR1", SIGUSR1}, {"USR2", SIGUSR2}, {"TERM", SIGTERM}, {"INT", SIGINT}, {"HUP", SIGHUP}}};
  std::vector<int> signals;
  if (text == "none") return signals;
  for_each_part(text, [&](std::string_view part) {
    if (part.starts_with("SIG")) part.remove_prefix(3);
    for (const auto& [name, number] : kSignals) {
      if (part != name) continue;
      signals.push_back(number);
      return;
    }
    throw ConfigurationError(
        fmt::format("'{}', expected some of USR1, USR2, TERM, INT, HUP, separated by commas, or none", text));
  });
  return signals;
}

void add_checkpoint_options(CLI::App& app, CheckpointOptions& options, OptionConditions& conditions,
                            WorkerClocks clocks) {
  const auto needs_folder = [&](const CLI::Option* option) {
    conditions.add(option, "--checkpoint-dir", [&options] { return !options.folder.empty(); });
  };
  app.add_option("--checkpoint-dir", options.folder,
                 "Save checkpoints to this folder, which all ranks see: now and then, when the job is to "
                 "stop, and in the end")
      ->check(file_name());
  const CLI::Option* const every =
      app.add_option_function<std::string>(
             "--checkpoint-every",
             [&options](const std::string& text) {
               parse_option("--checkpoint-every", [&] { options.interval = parse_interval(text); });
             },
             "From one checkpoint to the next: epochs, seconds, minutes, hours or clocks (batches of a "
             "worker), as 5epochs or 10minutes; several separated by commas: what comes first; never: only "
             "when the job is to stop, and in the end")
          ->default_str("10minutes");
  needs_folder(every);
  conditions.add(every, "epochs and times, as the program has no clocks",
                 [&options, clocks] { return clocks != WorkerClocks::none || !options.interval.clocks; });
  needs_folder(app.add_option_function<std::size_t>(
                      "--checkpoint-keep",
                      [&options](std::size_t count) {
                        options.keep = count == 0 ? std::nullopt : std::optional(count);
                      },
                      "Checkpoints that stay, the newest; 0: all")
                   ->check(integer_from_0())
                   ->default_str("2"));
  needs_folder(app.add_option("--checkpoint-local", options.local_folder,
                              "Write checkpoints first to this folder on each host's own disk or memory, and "
                              "copy them to --checkpoint-dir meanwhile")
                   ->check(file_name()));
  needs_folder(app.add_flag("--resume", options.resume,
                            "Go on from the newest checkpoint in the folder; where there is none, start"));
  conditions.add(app.add_option("--resume-step", options.resume_step,
                                "Go on from this step, and not from the newest; later ones are removed then, "
                                "as soon as there is another checkpoint, unless all are kept"),
                 "--resume", [&options] { return options.resume; });
  needs_folder(app.add_option("--stop-status", options.stop_status,
                              "Exit status of a job that has stopped early, from 1 to 125")
                   ->check(CLI::Range(1, 125))
                   ->capture_default_str());
  needs_folder(app.add_option_function<std::string>(
                      "--signals",
                      [&options](const std::string& text) {
                        parse_option("--signals", [&] { options.signals = parse_signals(text); });
                      },
                      "Signals at which the job saves a checkpoint and stops, or none")
                   ->default_str("USR1,TERM"));
  needs_folder(
      app.add_option_function<std::uint64_t>(
             "--stop-before",
             [&options](std::uint64_t seconds) { options.stop_before = std::chrono::seconds(seconds); },
             "Seconds before the end of the Slurm job (SLURM_JOB_END_TIME) at which the job saves "
             "a checkpoint and stops; after SIGTERM, a process that has not stopped by then ends")
          ->check(CLI::Range(0, 1000000))
          ->default_str("120"));
}

}  // namespace lapse::apps
