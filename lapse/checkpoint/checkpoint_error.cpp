#include "lapse/checkpoint/checkpoint_error.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace lapse {

CheckpointError::CheckpointError(Reason reason, std::string_view file, std::string_view problem)
    : FileError(file, problem), reason_(reason), problem_(problem) {}

std::string_view reason_name(CheckpointError::Reason reason) {
  using Reason = CheckpointError::Reason;
  switch (reason) {
    case Reason::missing:
      return "missing";
    case Reason::truncated:
      return "truncated";
    case Reason::damaged:
      return "damaged";
    case Reason::foreign:
      return "foreign";
    case Reason::newer_version:
      return "newer version";
    case Reason::mismatch:
      return "mismatch";
    case Reason::no_space:
      return "no space";
    case Reason::not_writable:
      return "not writable";
    case Reason::not_readable:
      return "not readable";
    case Reason::locked:
      return "locked";
  }
  return "unknown";
}

bool may_be_whole(const CheckpointError& error) {
  return error.reason() == CheckpointError::Reason::not_readable ||
         error.reason() == CheckpointError::Reason::newer_version;
}

CheckpointError system_error(CheckpointError::Reason otherwise, std::string_view file,
                             std::string_view action, int number) {
  CheckpointError::Reason reason = otherwise;
  if (number == ENOSPC || number == EDQUOT || number == EFBIG) reason = CheckpointError::Reason::no_space;
  if (number == ENOENT && otherwise == CheckpointError::Reason::not_readable)
    reason = CheckpointError::Reason::missing;
  return {reason, file, fmt::format("{}: {}", action, std::strerror(number))};
}

}  // namespace lapse
