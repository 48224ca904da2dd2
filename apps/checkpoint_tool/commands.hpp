// The commands of the program lapse-checkpoint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/checkpoint_tool/key_interval.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse::apps {

// The manifest of the step, by default the newest. Throws CheckpointError.
Manifest chosen_manifest(const CheckpointFolder& folder, std::optional<std::uint64_t> step);

// Each command prints to standard output and may throw CheckpointError.

// Prints a line for each checkpoint. Returns false if a manifest cannot be read.
bool list_checkpoints(const CheckpointFolder& folder);
// Reads every byte of one checkpoint, or of all, and prints which are complete. Returns false if one is not.
bool verify_checkpoints(const CheckpointFolder& folder, std::optional<std::uint64_t> step);
// Prints the content of a checkpoint.
void show_checkpoint(const CheckpointFolder& folder, const Manifest& manifest);

struct ExtractRequest {
  std::string table;  // may be empty if there is only one
  KeyInterval keys;
  bool state = false;  // also the update rule's state
};
// Prints a line for each key, in ascending order: key, tab, elements of the value; with state another tab and
// its elements. Reads only blocks that may have one of the keys.
void extract_keys(const CheckpointFolder& folder, const Manifest& manifest, const ExtractRequest& request);

}  // namespace lapse::apps
