// The exception for checkpoints that cannot be written or read.
#pragma once

#include <cstdint>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/file_error.hpp"

namespace lapse {

// Names a file or folder of a checkpoint, and its problem.
class LAPSE_EXPORT CheckpointError : public FileError {
 public:
  enum class Reason : std::uint8_t {
    missing,        // a file or folder that does not exist
    truncated,      // a file that is shorter than expected
    damaged,        // bytes that differ from the written ones
    foreign,        // a file of another checkpoint, or of none
    newer_version,  // written by a later version of the library
    mismatch,       // a checkpoint that does not fit the tables
    no_space,       // the disk, the quota or the limit of a file is full
    not_writable,
    not_readable,
    locked,  // another job writes to the folder
  };

  CheckpointError(Reason reason, std::string_view file, std::string_view problem);
  Reason reason() const { return reason_; }
  // The problem, without the name of the file.
  const std::string& problem() const { return problem_; }

 private:
  Reason reason_;
  std::string problem_;
};

// Returns a name such as "truncated".
LAPSE_EXPORT std::string_view reason_name(CheckpointError::Reason reason);
// Returns true if the checkpoint may be whole although it cannot be read: the disk refuses now, or the
// program is older than the checkpoint.
LAPSE_EXPORT bool may_be_whole(const CheckpointError& error);
// Makes an error from errno's value `number`: no_space for a full disk, quota or limit; missing; otherwise
// `otherwise`. `action`: such as "cannot be written".
CheckpointError system_error(CheckpointError::Reason otherwise, std::string_view file,
                             std::string_view action, int number);

}  // namespace lapse
