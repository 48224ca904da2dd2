// Finds checkpoints that exist before a training begins.
#pragma once

#include <string>
#include <vector>

#include "apps/common/checkpoint_options.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Equal on all ranks.
struct ExistingCheckpoints {
  std::string folder;               // with checkpoints of this run, also damaged ones; empty: none
  std::vector<std::string> others;  // messages about those of other runs, in local folders
};

// Collective. Throws CheckpointError on every rank if a local folder has checkpoints of another run that may
// exist in no other folder: the run's common folder is a different one, and they would be replaced.
ExistingCheckpoints existing_checkpoints(ParameterServer& server, const CheckpointOptions& options);

}  // namespace lapse::apps
