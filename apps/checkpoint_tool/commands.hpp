// What the program lapse-checkpoint does with a folder of checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "apps/checkpoint_tool/key_interval.hpp"
#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse::apps {

// The manifest of the step or, without one, of the newest. Throws CheckpointError.
Manifest chosen_manifest(const CheckpointFolder& folder, std::optional<std::uint64_t> step);

// Each command prints to standard output. Throws CheckpointError.

// A line for each checkpoint; false where a manifest cannot be read.
bool list_checkpoints(const CheckpointFolder& folder);
// Reads every byte of one checkpoint, or of all, and prints which are whole; false where one is not.
bool verify_checkpoints(const CheckpointFolder& folder, std::optional<std::uint64_t> step);
// What a checkpoint consists of.
void show_checkpoint(const CheckpointFolder& folder, const Manifest& manifest);

struct ExtractRequest {
  std::string table;  // may be empty where there is one
  KeyInterval keys;
  bool state = false;  // of the update rule, too
};
// A line for each key: key, tab, elements of the value; with states a further tab and these elements. Rising
// keys. Reads only blocks that may have one of the keys.
void extract_keys(const CheckpointFolder& folder, const Manifest& manifest, const ExtractRequest& request);

}  // namespace lapse::apps
