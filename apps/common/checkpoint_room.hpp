// Checks before a training that its checkpoints can be saved.
#pragma once

#include <span>

#include "apps/common/checkpoint_options.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/table.hpp"

namespace lapse::apps {

// Collective. Creates the folders of the options, and creates and removes a file in them on every rank.
// Throws the same CheckpointError on every rank if a rank cannot.
void require_writable(ParameterServer& server, const CheckpointOptions& options);

// Collective. Reserves the bytes of one checkpoint of the tables in the folders of the options, on all ranks
// at once, and frees them. Throws CheckpointError if there is not enough space. Warns if there is not enough
// for all kept checkpoints and the one being written.
void require_room(ParameterServer& server, const CheckpointOptions& options,
                  std::span<const TableHandle> tables);

}  // namespace lapse::apps
