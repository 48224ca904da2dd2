// Finds the checkpoint that is to be loaded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"

namespace lapse {

// What one rank has found in a folder, for all ranks.
struct FoundCheckpoint {
  std::uint64_t call = 0;  // a number that no other call has, almost surely
  SavedAt saved_at;
  std::uint64_t checkpoint = 0;       // its number
  bool healthy = true;                // all its numbers are finite, as far as is known
  std::string manifest;               // empty: none was found
  std::vector<std::string> problems;  // of newer ones that were passed over

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& call& saved_at& checkpoint& healthy& manifest& problems;
  }
};

// The checkpoint of the step, or without one the newest of which all files are there, as CheckpointFolder has
// it. Throws CheckpointError, naming another one that can be loaded, where there is any.
FoundCheckpoint find_checkpoint(const CheckpointFolder& folder, std::optional<std::uint64_t> step,
                                CheckpointFolder::Prefer prefer);

// For the text of an error: "; step 3 can be loaded", the newest whole checkpoint of another step than
// `failed`; empty where there is none.
std::string other_checkpoint(const CheckpointFolder& folder, std::uint64_t failed);

}  // namespace lapse
