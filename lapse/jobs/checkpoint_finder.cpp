#include "lapse/jobs/checkpoint_finder.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse {

FoundCheckpoint find_checkpoint(const CheckpointFolder& folder, std::optional<std::uint64_t> step,
                                CheckpointFolder::Prefer prefer) {
  FoundCheckpoint found;
  Manifest manifest;
  if (step) {
    try {
      manifest = folder.manifest(*step);
      folder.check(manifest, CheckpointFolder::Check::structure);
    } catch (const CheckpointError& error) {
      throw CheckpointError(error.reason(), error.file(), error.problem() + other_checkpoint(folder, *step));
    }
  } else {
    CheckpointFolder::Newest newest = folder.newest(CheckpointFolder::Check::structure, {}, prefer);
    if (!newest.manifest) {
      std::string problem = "has no whole checkpoint";
      for (const std::string& one : newest.problems) problem += "; " + one;
      throw CheckpointError(CheckpointError::Reason::missing, folder.path(), problem);
    }
    manifest = std::move(*newest.manifest);
    found.problems = std::move(newest.problems);
  }
  found.saved_at = manifest.saved_at();
  found.healthy = manifest.not_finite() == 0;
  found.manifest = manifest.to_text();
  return found;
}

std::string other_checkpoint(const CheckpointFolder& folder, std::uint64_t failed) {
  try {
    const CheckpointFolder::Newest other =
        folder.newest(CheckpointFolder::Check::structure, std::span(&failed, 1));
    return other.manifest ? fmt::format("; step {} can be loaded", other.manifest->step) : std::string();
  } catch (const CheckpointError&) {
    return {};  // The reported error is more useful.
  }
}

}  // namespace lapse
