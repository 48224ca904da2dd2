// The exception for checkpoints that cannot be written or read.
#pragma once

#include <cstdint>
#include <string_view>

#include "lapse/core/export.hpp"
#include "lapse/core/file_error.hpp"

namespace lapse {

// A file or folder of a checkpoint, and why it is of no use.
class LAPSE_EXPORT CheckpointError : public FileError {
 public:
  enum class Reason : std::uint8_t {
    missing,        // a file or folder that is not there
    truncated,      // a file that is shorter than it must be
    damaged,        // bytes that differ from those that were written
    foreign,        // a file of another checkpoint, or none of a checkpoint
    newer_version,  // written by a later version of the library
    mismatch,       // a checkpoint that does not fit the tables it is loaded into
    no_space,       // the disk, the quota or the limit of a file is full
    not_writable,
    not_readable,
    locked,  // another job writes to the folder
  };

  CheckpointError(Reason reason, std::string_view file, std::string_view problem);
  Reason reason() const { return reason_; }
  // Without the name of the file.
  const std::string& problem() const { return problem_; }

 private:
  Reason reason_;
  std::string problem_;
};

// "truncated"
LAPSE_EXPORT std::string_view reason_name(CheckpointError::Reason reason);
// The error for what the operating system has refused, by errno's value `number`: no_space for a full disk,
// quota or limit; missing; else `otherwise`. `action` is "cannot be written".
CheckpointError system_error(CheckpointError::Reason otherwise, std::string_view file,
                             std::string_view action, int number);

}  // namespace lapse
