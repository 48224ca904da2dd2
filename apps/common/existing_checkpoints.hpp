// Finds checkpoints that exist before a training begins.
#pragma once

#include <string>

#include "apps/common/checkpoint_options.hpp"
#include "lapse/ps/parameter_server.hpp"

namespace lapse::apps {

// Equal on all ranks.
struct ExistingCheckpoints {
  std::string folder;  // that has some of this run, also damaged ones; empty: none
};

// Collective. Throws CheckpointError, on every rank, where a local folder has checkpoints of another run: the
// folder of all ranks is not theirs, and they would be replaced.
ExistingCheckpoints existing_checkpoints(ParameterServer& server, const CheckpointOptions& options);

}  // namespace lapse::apps
