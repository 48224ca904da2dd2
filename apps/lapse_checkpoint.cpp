// Lists, verifies and converts checkpoints, without MPI.
//   lapse-checkpoint verify /scratch/run-7
//   lapse-checkpoint extract /scratch/run-7 --table factors --keys 0-9
//   lapse-checkpoint convert /scratch/run-7 factors.npy --table factors
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "apps/checkpoint_tool/commands.hpp"
#include "apps/checkpoint_tool/convert_options.hpp"
#include "lapse/core/version.hpp"

namespace {

using lapse::CheckpointFolder;
using lapse::Manifest;

struct ToolOptions {
  std::string folder;
  std::optional<std::uint64_t> step;
  std::string keys;
  lapse::apps::ExtractRequest extract;
};

CLI::App* add_command(CLI::App& app, ToolOptions& options, const std::string& name, const std::string& text) {
  CLI::App* const command = app.add_subcommand(name, text);
  command->add_option("folder", options.folder, "Folder with the checkpoints, step-<number> each")
      ->required()
      ->check(CLI::ExistingDirectory);
  return command;
}

void add_step(CLI::App& command, ToolOptions& options, const std::string& otherwise) {
  command.add_option("--step", options.step, "Number of the checkpoint; without it " + otherwise);
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app("Lists, verifies and reads checkpoints of Lapse; needs no MPI.", "lapse-checkpoint");
  app.set_version_flag("--version", std::string("lapse ") + lapse::library_version_text(),
                       "Print the version and end");
  app.require_subcommand(1);
  ToolOptions options;
  CLI::App* const list = add_command(app, options, "list", "A line for each checkpoint");
  CLI::App* const verify =
      add_command(app, options, "verify", "Read every byte; the status is 1 where a checkpoint is not whole");
  add_step(*verify, options, "all");
  CLI::App* const show = add_command(app, options, "show", "Tables and files of a checkpoint");
  add_step(*show, options, "the newest");
  CLI::App* const extract = add_command(app, options, "extract", "Values as text: key, tab, elements");
  add_step(*extract, options, "the newest");
  extract->add_option("--table", options.extract.table,
                      "Name of the table; may be left out where there is one");
  extract->add_option("--keys", options.keys, "Keys A, A-B, A- or -B; without it all")
      ->check([](const std::string& text) {
        return lapse::apps::key_interval(text) ? std::string()
                                               : "expected keys A, A-B, A- or -B, not " + text;
      });
  extract->add_flag("--state", options.extract.state,
                    "Also the state of the update rule, behind another tab");
  lapse::apps::ConvertOptions convert;
  lapse::apps::add_convert(app, convert);
  CLI11_PARSE(app, argument_count, arguments);

  const CheckpointFolder folder(options.folder);
  try {
    if (convert.command->parsed()) {
      lapse::apps::run_convert(convert);
      return 0;
    }
    if (list->parsed()) return lapse::apps::list_checkpoints(folder) ? 0 : 1;
    if (verify->parsed()) return lapse::apps::verify_checkpoints(folder, options.step) ? 0 : 1;
    const Manifest manifest = lapse::apps::chosen_manifest(folder, options.step);
    if (show->parsed()) lapse::apps::show_checkpoint(folder, manifest);
    if (extract->parsed()) {
      if (!options.keys.empty()) options.extract.keys = *lapse::apps::key_interval(options.keys);
      lapse::apps::extract_keys(folder, manifest, options.extract);
    }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
