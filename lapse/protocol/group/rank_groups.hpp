// The groups of workers that run on the server, as one rank takes part in them.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  std::vector<WorkerEndpoint*> seats_;  // of this rank, until its workers have left
  bool is_in_slots_ = false;
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
// In a phase with slots, groups begin and end while others run, at each of their ranks at its own time. Their
// numbers rise, on each rank. Frames of a group that has not begun here are kept until it does; those of a
// group that has ended here are dropped.
//
// Thread safety: the holder of the progress lock; begin, open_slots and clear while no engine runs.
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
  void clear() {
    groups_.clear();
    kept_.clear();
    last_begun_.reset();
  }
  // A new group, whose workers of this rank have these seats. Its number was agreed on by all ranks.
  RankGroup& begin(GroupNumber number, std::vector<WorkerEndpoint*> seats);

  // --- in slots

  // Groups with higher numbers than this begin and end during the phase.
  void open_slots(GroupNumber last) { last_begun_ = last; }
  // Like begin, for a group of which only `participants` know.
  RankGroup& begin_in_slots(GroupNumber number, std::vector<WorkerEndpoint*> seats)
      LAPSE_REQUIRES(progress_role);
  // The collective calls of the group have been started: handles the frames that were kept for it.
  void handle_kept(GroupNumber number) LAPSE_REQUIRES(progress_role);
  // The seats of the group's workers on this rank are free. The group still takes part in its collective
  // calls, as those of other ranks may be incomplete.
  static void leave(RankGroup& group) LAPSE_REQUIRES(progress_role) { group.seats_.clear(); }
  // The group's workers have left on all ranks.
  void end(GroupNumber number) LAPSE_REQUIRES(progress_role) { groups_.erase(number); }
  // The group's workers of all ranks are to fail; called on one of its ranks.
  void fail(RankGroup& group, const std::exception_ptr& failure) LAPSE_REQUIRES(progress_role) {
    report(group, failure);
  }

  // Is called with the first failure of each group, if it is one of this rank.
  using Listener =
      std::function<void(GroupNumber group, std::optional<std::uint64_t> worker, std::string_view text)>;
  void set_listener(Listener listener) { listener_ = std::move(listener); }

 private:
  friend class RankGroup;

  // A frame of a group that has not begun here.
  struct Kept {
    Rank from;
    FrameHeader header;
    std::vector<std::uint64_t> records;  // words, for their alignment
  };

  // Null: the group is in slots, and has not begun here or has ended.
  RankGroup* find(GroupNumber number);
  void keep(Rank from, const FrameHeader& header, const std::byte* records);
  // Notifies the other ranks of the failure of a group.
  void send_failure(const RankGroup& group, std::string_view text) LAPSE_REQUIRES(progress_role);
  void report(RankGroup& group, const std::exception_ptr& failure, std::optional<std::uint64_t> worker = {})
      LAPSE_REQUIRES(progress_role);
  void stop(const RankGroup& group) LAPSE_REQUIRES(progress_role);
  void wake(const RankGroup& group) const;

  const Registry& registry_;
  Outbox& outbox_;
  Listener listener_;
  RankGroup all_;
  std::map<GroupNumber, std::unique_ptr<RankGroup>> groups_;  // all but group 0; constant without slots
  std::optional<GroupNumber> last_begun_;                     // in slots
  std::map<GroupNumber, std::vector<Kept>> kept_;
};

}  // namespace lapse
