#include "apps/common/existing_checkpoints.hpp"

#include <algorithm>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/checkpoint/folder_lock.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/jobs/local_checkpoints.hpp"

namespace lapse::apps {

namespace {

// Rank 0 checks the common folder; every rank checks the folder of its host.
struct SeenCheckpoints {
  bool in_folder = false;
  bool in_local = false;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& in_folder& in_local;
  }
};

}  // namespace

ExistingCheckpoints existing_checkpoints(ParameterServer& server, const CheckpointOptions& options) {
  CheckpointAgreement agreement(server, "the look for checkpoints");
  const std::vector<SeenCheckpoints> all = agreement.exchange([&] {
    SeenCheckpoints seen;
    if (server.rank() == Rank(0)) seen.in_folder = !CheckpointFolder(options.folder).steps().empty();
    if (options.local_folder.empty()) return seen;
    const auto listing = LocalCheckpoints(options.local_folder)
                             .list(folder_number(options.folder).value_or(0), options.folder);
    seen.in_local = !listing.manifests.empty() || !listing.problems.empty();
    return seen;
  });
  ExistingCheckpoints existing;
  if (std::ranges::any_of(all, &SeenCheckpoints::in_local)) existing.folder = options.local_folder;
  if (all[0].in_folder) existing.folder = options.folder;
  return existing;
}

}  // namespace lapse::apps
