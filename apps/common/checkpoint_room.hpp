// What would keep a job from saving its checkpoints, noticed before it trains.
#pragma once

#include <span>

#include "apps/common/checkpoint_options.hpp"
#include "lapse/ps/parameter_server.hpp"
#include "lapse/ps/table.hpp"

namespace lapse::apps {

// Collective. Makes the folders of the options, and creates and removes a file in them on every rank. Throws
// CheckpointError, on every rank the same, where a rank cannot do that.
void require_writable(ParameterServer& server, const CheckpointOptions& options);

// Collective. Reserves the bytes of one checkpoint of the tables in the folders of the options, all ranks
// theirs at once, and gives them back. Throws CheckpointError where there is no room; warns where there is
// none for as many as are kept beside the one that is written.
void require_room(ParameterServer& server, const CheckpointOptions& options,
                  std::span<const TableHandle> tables);

}  // namespace lapse::apps
