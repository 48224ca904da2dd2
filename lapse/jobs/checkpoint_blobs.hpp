// Reads the blobs that the application has added to a checkpoint.
#pragma once

#include <cstdint>
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

// Reads them from a folder that this rank sees. Throws CheckpointError.
CheckpointBlobs read_blobs(const CheckpointFolder& folder, const Manifest& manifest);

// Collective. The rank that has listed a part reads its blobs from the local folder `folder`, and sends them
// to the others in pieces, however large they are. `ranks`: their number. Throws CheckpointError on every
// rank.
CheckpointBlobs gather_blobs(CheckpointAgreement& agreement, const LocalCheckpoint& checkpoint,
                             const CheckpointFolder& folder, Rank rank, std::int32_t ranks);

}  // namespace lapse
