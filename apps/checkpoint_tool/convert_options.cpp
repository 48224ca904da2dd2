#include "apps/checkpoint_tool/convert_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "apps/checkpoint_tool/commands.hpp"
#include "apps/checkpoint_tool/convert.hpp"
#include "lapse/core/error.hpp"

namespace lapse::apps {

namespace {

void refuse(bool is_given, std::string_view option, std::string_view when) {
  if (is_given) throw UsageError(fmt::format("{} does not apply {}", option, when));
}

void to_arrays(const ConvertOptions& options) {
  const auto format = array_format(options.target);
  if (!format) {
    throw UsageError(
        fmt::format("'{}' has no known ending: expected .npy, .safetensors, .h5 or .hdf5", options.target));
  }
  refuse(!options.rule.empty(), "--rule", "to a checkpoint that is read");
  if (*format == ArrayFormat::npy) {
    refuse(options.no_state, "--no-state", "to .npy files: without --state there is none");
  } else {
    refuse(!options.keys.empty(), "--keys", "to files of several arrays, which have the keys");
    refuse(!options.state.empty(), "--state", "to files of several arrays, which have the state");
  }
  for (auto table = options.tables.begin(); table != options.tables.end(); ++table)
    if (std::find(options.tables.begin(), table, *table) != table)
      throw UsageError(fmt::format("--table '{}' is given twice", *table));
  const CheckpointFolder folder(options.source);
  convert_to_arrays(folder, chosen_manifest(folder, options.step),
                    {.tables = options.tables,
                     .format = *format,
                     .output = options.target,
                     .keys = options.keys,
                     .state = options.state,
                     .with_state = !options.no_state,
                     .force = options.force});
}

void from_arrays(const ConvertOptions& options) {
  refuse(options.no_state, "--no-state", "to a checkpoint that is written");
  if (options.tables.size() != 1) throw UsageError("expected --table NAME for the table of the checkpoint");
  if (!options.step) throw UsageError("expected --step NUMBER for the checkpoint");
  convert_from_arrays(CheckpointFolder(options.target), {.values = options.source,
                                                         .keys = options.keys,
                                                         .state = options.state,
                                                         .table = options.tables[0],
                                                         .rule = options.rule.empty() ? "add" : options.rule,
                                                         .step = *options.step,
                                                         .force = options.force});
}

}  // namespace

void add_convert(CLI::App& app, ConvertOptions& options) {
  options.command = app.add_subcommand(
      "convert", "Tables as arrays of other programs, or a .npy file as a checkpoint of one table");
  CLI::App& command = *options.command;
  command
      .add_option("source", options.source,
                  "Folder with the checkpoints; or a .npy file with a row for each key")
      ->required()
      ->check(CLI::ExistingPath);
  command
      .add_option("target", options.target,
                  "File that ends in .npy, .safetensors, .h5 or .hdf5; or the folder for the checkpoint")
      ->required();
  command.add_option("--step", options.step,
                     "Number of the checkpoint; without it the newest is read; needed to write one");
  command
      .add_option("--table", options.tables,
                  "Name of a table; may be repeated, and left out for all, where files have several arrays")
      ->allow_extra_args(false);
  command.add_option("--keys", options.keys,
                     ".npy file of the keys of a sparse table, written or read; rows are in their order");
  command.add_option("--state", options.state, ".npy file of the state of the update rule, written or read");
  command.add_flag("--no-state", options.no_state,
                   "Leave the state of the update rules out of .safetensors, .h5 and .hdf5");
  command.add_option("--rule", options.rule, "Update rule of the table in a new checkpoint (default: add)");
  command.add_flag("--force", options.force, "Replace files, or the checkpoint of this step");
}

void run_convert(const ConvertOptions& options) {
  std::error_code error;
  if (std::filesystem::is_directory(options.source, error)) return to_arrays(options);
  if (array_format(options.source) == ArrayFormat::npy) return from_arrays(options);
  throw UsageError(fmt::format("'{}' is neither a folder of checkpoints nor a .npy file", options.source));
}

}  // namespace lapse::apps
