// The command `convert` of lapse-checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lapse::apps {

struct ConvertOptions {
  CLI::App* command = nullptr;
  std::string source;
  std::string target;
  std::optional<std::uint64_t> step;
  std::vector<std::string> tables;
  std::string keys;
  std::string state;
  bool no_state = false;
  std::string rule;
  bool force = false;
};

// Adds the command; `options` must outlive the parser.
void add_convert(CLI::App& app, ConvertOptions& options);

// Converts a folder of checkpoints to an array file, or a .npy file to a folder. Throws CheckpointError,
// FileError, and UsageError for options that do not apply.
void run_convert(const ConvertOptions& options);

}  // namespace lapse::apps
