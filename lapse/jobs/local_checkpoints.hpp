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

// The folder of one host. A rank writes a file with its part, and then a manifest of this part, so that no
// rank waits for another. The parts of all ranks together are the checkpoint.
//
// Thread safety: like CheckpointFolder.
class LocalCheckpoints {
 public:
  explicit LocalCheckpoints(std::string path) : folder_(std::move(path)) {}

  const CheckpointFolder& folder() const { return folder_; }
  static std::string file_name(std::uint64_t checkpoint, Rank rank);
  // Makes the part of the rank appear. Requires that its file is on the disk.
  void announce(const Manifest& part, Rank rank) const;
  // Records that the folder of all ranks has this checkpoint, too.
  void mark_copied(std::uint64_t checkpoint) const noexcept;
  // Removes all other checkpoints, of any run.
  void remove_others(std::uint64_t checkpoint) const noexcept;
  // Removes files of parts that never appear, because their ranks ended before that, and parts of the run
  // with a smaller order than `order`.
  void remove_useless(std::uint64_t run, std::uint64_t order) const noexcept;
  // Removes the part of a rank.
  void discard(std::uint64_t step, std::uint64_t checkpoint, Rank rank) const noexcept;

  // The parts on this host whose files exist, and the problems of others.
  struct Listing {
    std::vector<std::uint64_t> ranks;
    std::vector<std::string> manifests;
    std::vector<std::string> problems;
    bool unreadable = false;               // a disk refuses to read
    std::vector<std::string> refused;      // messages: parts whose run is not known, as the disk refuses
    std::vector<std::string> others;       // messages: parts of other runs
    std::vector<std::uint64_t> only_here;  // steps of those that their folder of all ranks may lack

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      archive& ranks& manifests& problems& unreadable& refused& others& only_here;
    }
  };
  // Lists the parts of one run (Manifest::run).
  Listing list(std::uint64_t run) const;
  // Throws CheckpointError if `listing`, of the run of the folder `all_ranks`, has parts of another run that
  // may exist nowhere else, or parts that the disk refuses, which may be such parts.
  void refuse_others(const Listing& listing, const std::string& all_ranks) const;

 private:
  template <class KeptNames>
  void remove_unless(const KeptNames& kept_names) const noexcept;
  std::string part_text(std::uint64_t step, const std::string& name) const;
  bool is_older(std::uint64_t step, const std::string& name, std::uint64_t run, std::uint64_t order) const;
  void list_part(std::uint64_t step, const std::string& name, std::uint64_t rank, std::uint64_t run,
                 Listing& listing) const;
  std::string copied_file() const { return folder_.path() + "/copied"; }
  std::optional<std::uint64_t> copied() const;

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
  std::uint64_t checkpoint() const { return parts.front().manifest.checkpoint; }
  SavedAt saved_at() const { return parts.front().manifest.saved_at(); }
  // Returns true if all numbers of all parts are finite, as far as is known.
  bool healthy() const;
  // Returns the manifest of all parts, or of those that one rank has listed.
  Manifest manifest(std::optional<std::size_t> lister = {}) const;
};

// Which local checkpoint to find. Ignores those from before the latest in the folder of all ranks: they are
// older, or belong to a branch of the training that a later job has abandoned.
struct WantedLocal {
  using Place = std::pair<SavedAt, std::uint64_t>;  // and its number

  std::optional<std::uint64_t> step = {};  // nullopt: any
  SavedAt latest = {};                     // in the folder of all ranks
  std::optional<Place> before = {};        // only older ones than this
  // Takes one with numbers that are not finite only if there is no other.
  bool prefers_healthy = true;
};

// Finds the newest complete checkpoint. Appends skipped newer ones to `problems`. `listings`: by rank.
std::optional<LocalCheckpoint> newest_local(const std::vector<LocalCheckpoints::Listing>& listings,
                                            const WantedLocal& wanted, std::vector<std::string>& problems);

}  // namespace lapse
