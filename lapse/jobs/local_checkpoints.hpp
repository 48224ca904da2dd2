// Checkpoints on the hosts' own disks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// The folder of one host: parts of checkpoints that the folder of all ranks does not have yet. A rank writes
// a file with its part, and then a manifest of this part, so that no rank waits for another. The parts of all
// ranks together are the checkpoint. All parts are of one run, by the number of its folder of all ranks.
//
// Thread safety: like CheckpointFolder.
class LocalCheckpoints {
 public:
  explicit LocalCheckpoints(std::string path) : folder_(std::move(path)) {}

  const CheckpointFolder& folder() const { return folder_; }
  static std::string file_name(std::uint64_t checkpoint, Rank rank);
  // Makes the part of the rank appear. Requires that its file is on the disk.
  void announce(const Manifest& part, Rank rank) const;

  // Each of these keeps what cannot be removed: the next call tries again.
  // Removes the part of a rank.
  void discard(std::uint64_t checkpoint, Rank rank) const noexcept;
  // Removes files of parts that never appear, because their ranks ended before that.
  void remove_left_overs() const noexcept;
  // Removes all other checkpoints.
  void keep_only(std::uint64_t checkpoint) const noexcept;
  void clear() const noexcept;

  // The parts on this host whose files exist, and the problems of others.
  struct Listing {
    std::vector<std::uint64_t> ranks;
    std::vector<std::string> manifests;
    std::vector<std::string> problems;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& ranks& manifests& problems;
    }
  };
  // Lists the parts of the run in the folder `all_ranks`, by its number. Throws CheckpointError if a part is
  // of another run, or may be whole and cannot be read.
  Listing list(std::uint64_t run, const std::string& all_ranks) const;

 private:
  template <class Condition>
  void remove_if(const Condition& condition) const noexcept;

  CheckpointFolder folder_;
};

// A checkpoint whose parts are all on the hosts of this job. Equal on all ranks.
struct LocalCheckpoint {
  struct Part {
    std::size_t lister;  // the rank that has listed it, on the part's host
    Manifest manifest;
  };
  std::vector<Part> parts;  // by the rank that has written it

  std::uint64_t step() const { return parts.front().manifest.step; }
  SavedAt saved_at() const { return parts.front().manifest.saved_at(); }
  // Returns the manifest of all parts, or of those that one rank has listed.
  Manifest manifest(std::optional<std::size_t> lister = {}) const;
  // Returns true if all numbers are finite, as far as is known.
  bool healthy() const { return manifest().not_finite() == 0; }
};

// A checkpoint of which parts are missing on the hosts of this job.
struct IncompleteCheckpoint {
  SavedAt saved_at;
  std::string problem;
};

// Returns the checkpoints (of `step`, if given) whose parts are all listed, newest first. Appends the others
// to `incomplete`. `listings`: by rank.
std::vector<LocalCheckpoint> complete_checkpoints(const std::vector<LocalCheckpoints::Listing>& listings,
                                                  std::optional<std::uint64_t> step,
                                                  std::vector<IncompleteCheckpoint>& incomplete);

}  // namespace lapse
