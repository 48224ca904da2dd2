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
  std::uint64_t step = 0;
  std::string manifest;
  std::vector<std::string> problems;  // of newer ones that were passed over
  std::string global;
  std::vector<std::string> per_worker;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& call& step& manifest& problems& global& per_worker;
  }
};

// The checkpoint of the step, or without one the newest of which all files are there. Throws CheckpointError,
// naming another one that can be loaded, where there is any.
FoundCheckpoint find_checkpoint(const CheckpointFolder& folder, std::optional<std::uint64_t> step);

// For the text of an error: "; step 3 can be loaded", the newest whole checkpoint but that of step `except`;
// empty where there is none. Throws CheckpointError.
std::string other_checkpoint(const CheckpointFolder& folder, std::optional<std::uint64_t> except = {});

}  // namespace lapse
