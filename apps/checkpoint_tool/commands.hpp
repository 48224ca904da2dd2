// What the program lapse-checkpoint does with a folder of checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse::apps {

// Keys from first to last, both included.
struct KeyInterval {
  std::uint64_t first = 0;
  std::uint64_t last = UINT64_MAX;
};
// "5", "5-9", "5-" or "-9"; nothing for other texts.
std::optional<KeyInterval> key_interval(std::string_view text);

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
