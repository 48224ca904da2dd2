// Finds the checkpoint to load.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse {

// The checkpoint that one rank has found in a folder, for all ranks.
struct FoundCheckpoint {
  std::uint64_t call = 0;  // a random id, unique with high probability
  SavedAt saved_at;
  bool healthy = true;                // all its numbers are finite, as far as is known
  std::string manifest;               // empty: none was found
  std::vector<std::string> problems;  // of newer ones that were skipped

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& call& saved_at& healthy& manifest& problems;
  }
};

// Finds the checkpoint of the step; without a step, the newest whose files all exist, by CheckpointFolder.
// Throws CheckpointError, naming another one that can be loaded, if any.
FoundCheckpoint find_checkpoint(const CheckpointFolder& folder, std::optional<std::uint64_t> step,
                                CheckpointFolder::Prefer prefer);

// For an error message: returns "; step 3 can be loaded", for the newest whole checkpoint of another step
// than `failed`; empty if there is none.
std::string other_checkpoint(const CheckpointFolder& folder, std::uint64_t failed);

}  // namespace lapse
