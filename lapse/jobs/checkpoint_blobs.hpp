// What the application has added to a checkpoint, read again.
#pragma once

#include <string>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/core/types.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/jobs/local_checkpoints.hpp"

namespace lapse {

struct CheckpointBlobs {
  std::string global;
  std::vector<std::string> per_worker;
};

// Of a folder that this rank sees. Throws CheckpointError.
CheckpointBlobs read_blobs(const CheckpointFolder& folder, const Manifest& manifest);

// Collective. Each blob is read by the rank that has listed its part, from `folder`, the local one, and
// reaches the others in pieces, however many bytes there are. Throws CheckpointError on every rank.
CheckpointBlobs gather_blobs(CheckpointAgreement& agreement, const LocalCheckpoint& checkpoint,
                             const CheckpointFolder& folder, Rank rank);

}  // namespace lapse
