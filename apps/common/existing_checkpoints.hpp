// What checkpoints there are before a training begins.
#pragma once

#include <string>
#include <vector>

#include "apps/common/checkpoint_options.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Equal on all ranks.
struct ExistingCheckpoints {
  std::string folder;               // that has some of this run, also damaged ones; empty: none
  std::vector<std::string> others;  // texts about those of other runs, in local folders
};

// Collective. Throws CheckpointError, on every rank, where a local folder has checkpoints of another run that
// may be in no other folder: the one of all ranks is not theirs, and they would be replaced.
ExistingCheckpoints existing_checkpoints(ParameterServer& server, const CheckpointOptions& options);

}  // namespace lapse::apps
