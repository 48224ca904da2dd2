#include "lapse/ps/checkpoint_finder.hpp"

#include <fmt/format.h>

#include <span>
#include <utility>

#include "lapse/checkpoint/checkpoint_error.hpp"

namespace lapse {

namespace {

std::string to_string(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

FoundCheckpoint find_checkpoint(const CheckpointFolder& folder, std::optional<std::uint64_t> step) {
  FoundCheckpoint found;
  Manifest manifest;
  if (step) {
    try {
      manifest = folder.manifest(*step);
      folder.check(manifest, CheckpointFolder::Check::structure);
    } catch (const CheckpointError& error) {
      throw CheckpointError(error.reason(), error.file(), error.problem() + other_checkpoint(folder));
    }
  } else {
    CheckpointFolder::Newest newest = folder.newest(CheckpointFolder::Check::structure);
    if (!newest.manifest) {
      std::string problem = "has no whole checkpoint";
      for (const std::string& one : newest.problems) problem += "; " + one;
      throw CheckpointError(CheckpointError::Reason::missing, folder.path(), problem);
    }
    manifest = std::move(*newest.manifest);
    found.problems = std::move(newest.problems);
  }
  found.step = manifest.step;
  found.manifest = manifest.to_text();
  if (manifest.global) found.global = to_string(folder.read_blob(manifest, *manifest.global));
  for (const BlobRecord& blob : manifest.per_worker)
    found.per_worker.push_back(to_string(folder.read_blob(manifest, blob)));
  return found;
}

std::string other_checkpoint(const CheckpointFolder& folder, std::optional<std::uint64_t> except) {
  const CheckpointFolder::Newest other = folder.newest(CheckpointFolder::Check::structure, except);
  return other.manifest ? fmt::format("; step {} can be loaded", other.manifest->step) : std::string();
}

}  // namespace lapse
