// The groups of workers that run on the server, as one rank takes part in them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/protocol/group/collective.hpp"
#include "lapse/protocol/host/failure.hpp"
#include "lapse/protocol/host/failure_broadcast.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

class RankGroups;

// One group: its collective calls, and its failure. Handles the contributions of this rank.
//
// Thread safety: as Collective; failure() by any thread.
class RankGroup final : public SubmissionHandler {
 public:
  RankGroup(RankGroups& groups, GroupNumber number, Outbox& outbox);

  GroupNumber number() const { return number_; }
  Collective& collective() { return collective_; }
  const Collective& collective() const { return collective_; }
  // Of the group alone. That of group 0 is never raised: the failure of one of its workers is the server's.
  const Failure& failure() const { return failure_; }

  // Takes a Contribution.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);

 private:
  friend class RankGroups;

  RankGroups& groups_;
  const GroupNumber number_;
  Collective collective_;
  Failure failure_;
  std::vector<WorkerEndpoint*> seats_;  // of this rank; constant during a phase
};

// A worker has failed, or calls of workers differ: this ends their group on every rank, and no other.
// For group 0, it goes to the FailureBroadcast.
struct GroupFailureReport : FailureReport {
  RankGroup* group = nullptr;
};

// Frames of collective calls carry the number of their group (FrameHeader::operation) and of their round
// (FrameHeader::table). Group 0 is that of all workers of a phase without groups; it always exists. Other
// groups live from begin() until the next phase, so that no frame can be of a group that this rank has not
// begun or has forgotten.
//
// Thread safety: the holder of the progress lock; begin and clear while no engine runs.
//
// Guarantee: the first failure of a group, local or remote, is sent to every rank once and stops the workers
// of the group at their next access or wait. Frames of a group that has failed are dropped: its rounds never
// complete.
class RankGroups final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::workers_up}, {FrameKind::workers_down}, {FrameKind::group_failed}};

  RankGroups(const Registry& registry, Outbox& outbox)
      : registry_(registry), outbox_(outbox), all_(*this, kAllWorkers, outbox) {}

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Takes a GroupFailureReport.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel) const override LAPSE_REQUIRES(progress_role) { return true; }

  // Group 0.
  RankGroup& all() { return all_; }
  const RankGroup& all() const { return all_; }
  // Forgets all groups but group 0.
  void clear() { groups_.clear(); }
  // A new group, whose workers of this rank have these seats. Its number was agreed on by all ranks.
  RankGroup& begin(GroupNumber number, std::vector<WorkerEndpoint*> seats);

  // Is called with the first failure of each group, if it is one of this rank.
  using Listener =
      std::function<void(GroupNumber group, std::optional<std::uint64_t> worker, std::string_view text)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

 private:
  friend class RankGroup;

  RankGroup& find(GroupNumber number);
  void report(RankGroup& group, const std::exception_ptr& failure, std::optional<std::uint64_t> worker = {})
      LAPSE_REQUIRES(progress_role);
  void stop(const RankGroup& group) LAPSE_REQUIRES(progress_role);
  void wake(const RankGroup& group) const;

  const Registry& registry_;
  Outbox& outbox_;
  Listener listener_;
  RankGroup all_;
  std::map<GroupNumber, std::unique_ptr<RankGroup>> groups_;  // all but group 0; constant during a phase
};

}  // namespace lapse
