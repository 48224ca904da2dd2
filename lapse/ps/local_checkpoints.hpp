// Checkpoints on the disks of the hosts themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/core/types.hpp"

namespace lapse {

// The folder of one host. A rank writes a file with its part, and then a manifest of this part: so a rank
// waits for no other, and the parts of all ranks together are the checkpoint.
//
// Thread safety: that of CheckpointFolder.
class LocalCheckpoints {
 public:
  explicit LocalCheckpoints(std::string path) : folder_(std::move(path)) {}

  const CheckpointFolder& folder() const { return folder_; }
  static std::string file_name(std::uint64_t checkpoint, Rank rank);
  // Makes the part of the rank appear. Its file is on the disk.
  void announce(const Manifest& part, Rank rank) const;
  // Removes everything of other checkpoints than this one, of any run; nothing: of all.
  void remove_others(std::optional<std::uint64_t> checkpoint) const noexcept;
  // Removes files of parts that do not appear: their ranks ended before that.
  void remove_unfinished() const noexcept;
  // Removes the part of a rank.
  void discard(std::uint64_t step, std::uint64_t checkpoint, Rank rank) const noexcept;

  // The parts on this host whose files are there, and what is wrong with others.
  struct Listing {
    std::vector<std::uint64_t> ranks;
    std::vector<std::string> manifests;
    std::vector<std::string> problems;

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& ranks& manifests& problems;
    }
  };
  // Those of one run (Manifest::run).
  Listing list(std::uint64_t run) const;

 private:
  template <class IsKept>
  void remove_unless(const IsKept& is_kept) const noexcept;

  CheckpointFolder folder_;
};

// One checkpoint of which all parts are on the hosts of this job. Equal on all ranks.
struct LocalCheckpoint {
  struct Part {
    std::size_t lister;  // the rank that has listed it, on the part's host
    Manifest manifest;
  };
  std::vector<Part> parts;  // by the rank that has written it

  std::uint64_t step() const { return parts.front().manifest.step; }
  std::uint64_t checkpoint() const { return parts.front().manifest.checkpoint; }
  std::uint64_t order() const { return parts.front().manifest.order; }
  // Of all parts, or of those that one rank has listed.
  Manifest manifest(std::optional<std::size_t> lister = {}) const;
};

// The newest that is complete, or that of the step; `problems` gets newer ones that are not. Those from
// before `latest`, in the folder of all ranks, are left out: of smaller steps they are older, of larger ones
// they belong to a branch of the training that a later job has abandoned. `listings`: by rank.
std::optional<LocalCheckpoint> newest_local(const std::vector<LocalCheckpoints::Listing>& listings,
                                            std::optional<std::uint64_t> step,
                                            const CheckpointFolder::Latest& latest,
                                            std::vector<std::string>& problems);

}  // namespace lapse
