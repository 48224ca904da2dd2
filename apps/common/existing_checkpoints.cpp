#include "apps/common/existing_checkpoints.hpp"

#include <algorithm>
#include <set>

#include "lapse/checkpoint/checkpoint_folder.hpp"
#include "lapse/jobs/checkpoint_agreement.hpp"
#include "lapse/jobs/local_checkpoints.hpp"

namespace lapse::apps {

namespace {

// Rank 0 checks the common folder; every rank checks the folder of its host.
struct SeenCheckpoints {
  bool in_folder = false;
  bool in_local = false;
  std::vector<std::string> others;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& in_folder& in_local& others;
  }
};

}  // namespace

ExistingCheckpoints existing_checkpoints(ParameterServer& server, const CheckpointOptions& options) {
  CheckpointAgreement agreement(server, "the look for checkpoints");
  const std::vector<SeenCheckpoints> all = agreement.exchange([&] {
    SeenCheckpoints seen;
    if (server.rank() == Rank(0)) seen.in_folder = !CheckpointFolder(options.folder).steps().empty();
    if (options.local_folder.empty()) return seen;
    const LocalCheckpoints local(options.local_folder);
    const auto listing = local.list(CheckpointFolder(options.folder).run());
    local.refuse_others(listing, options.folder);
    seen.in_local = !listing.manifests.empty() || !listing.problems.empty();
    seen.others = listing.others;
    return seen;
  });
  ExistingCheckpoints existing;
  std::set<std::string> others;
  for (const SeenCheckpoints& seen : all) others.insert(seen.others.begin(), seen.others.end());
  existing.others.assign(others.begin(), others.end());
  if (std::ranges::any_of(all, &SeenCheckpoints::in_local)) existing.folder = options.local_folder;
  if (all[0].in_folder) existing.folder = options.folder;
  return existing;
}

}  // namespace lapse::apps
