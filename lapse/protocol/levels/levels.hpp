// Levels: up to which clock of the slowest worker all copies show all updates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/levels/group_levels.hpp"
#include "lapse/protocol/modules/replication.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// Workers count clocks, and a table may bound how far a worker may be ahead of what it can read, or how large
// the changes are that some copy may lack (see docs/consistency.md). This module finds out what can be read;
// workers ask it before they access such a table. It knows no key and no bound. A *level* is a clock of the
// slowest worker, or an *epoch*, which counts cuts that some worker wanted:
// 1. When the clocks of all workers of a domain have risen, each of its ranks cuts, and when an epoch is
//    wanted, each rank: what is changed in the replicas that it serves is sent to the owners and merged. Then
//    the level *merged* of the rank rises.
// 2. The minimum over all ranks goes up a tree of ranks, and down again. A rank that learns it sends to every
//    other domain the refreshes that are due, then FRESH: up to this level, all is sent.
// 3. When FRESH and all refreshes before it have come from every rank that serves the same keys for another
//    domain, the next cut carries the level: a replica with an unanswered DELTA drops a refresh, and one that
//    becomes the main copy gets it by TRANSFER. When that cut has ended, the level *fresh* of the rank rises.
// 4. The minimum of the fresh epochs of all ranks takes the same way over the tree: what was changed before
//    that cut is visible in all copies. A clock is of use to the rank's own domain only.
// A clock costs 2 (N - 1) records for the tree of N ranks, one for each pair of ranks that serve the same
// keys, and two for each pair of ranks of a domain, however many keys there are. No rank
// cuts for an epoch before the last one is visible.
//
// Each group of workers has levels of its own: no group waits for another one. A cut is one of all groups.
//
// Where no table has a bound, nothing is counted or sent.
//
// Thread safety: the holder of the progress lock; what workers ask a GroupLevels: any thread.
class Levels final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::level_up}, {FrameKind::level_down}, {FrameKind::level_near}, {FrameKind::fresh}};

  Levels(const Registry& registry, Outbox& outbox, Replication& replication)
      : registry_(registry),
        outbox_(outbox),
        replication_(replication),
        all_(std::make_shared<GroupLevels>(kAllWorkers, setting_)) {}

  // What a phase has: group 0, of all its workers, and those of this rank may join and leave; groups that
  // begin before its workers do, on every rank; or groups that begin and end, each at its own time on every
  // rank.
  enum class Groups : std::uint8_t { all_workers, joining, together, in_slots };
  // Called before a phase, on every rank, after the seats of its workers are taken. `last`: the highest
  // number of a group so far. `some_join`: some rank has Groups::joining.
  void start(Groups groups, GroupNumber last = 0, bool some_join = false) LAPSE_REQUIRES(progress_role);
  // A group begins, whose workers of this rank are these, of `all`. With Groups::together: on every rank,
  // while no engine runs. In slots: on the ranks of its workers. Where no table has a bound, it has the
  // levels of group 0, which never rise. What is returned lives until all these workers have left.
  const GroupLevels& seat(GroupNumber number, std::span<WorkerEndpoint* const> workers, std::size_t all)
      LAPSE_REQUIRES(progress_role);
  // Groups::joining: the worker of group 0 begins, at a clock that its WorkerLevel has then.
  void join(WorkerEndpoint& worker) LAPSE_REQUIRES(progress_role);
  // In slots, or after join: the worker of the group makes no call any more.
  void leave(GroupNumber number, const WorkerEndpoint& worker) LAPSE_REQUIRES(progress_role);

  // Whether groups begin and end. Constant during a phase.
  bool has_slots() const { return setting_.has_slots; }
  // Group 0.
  const GroupLevels& all() const { return *all_; }
  // Null: the group has not begun here, or has ended. Group 0 is always there.
  const GroupLevels* find(GroupNumber number) const LAPSE_REQUIRES(progress_role);
  // Groups that take part in the phase.
  std::size_t size() const LAPSE_REQUIRES(progress_role) { return groups_.size(); }

  // Asks for epochs of a group up to this one, as workers do by their WorkerLevel. False: that was asked for
  // before.
  bool want(GroupNumber number, Level epoch) LAPSE_REQUIRES(progress_role);

  // Who waits for epochs.
  struct Listener {
    // visible() of some group has risen, at the end of a turn, or the group has no workers here any more.
    std::function<void()> changed;
    // Whether it waits for an epoch of the group, which does not end before.
    std::function<bool(GroupNumber group)> waits;
  };
  void set_listener(Listener listener) { listener_ = std::move(listener); }
  // The listener waits no more for some group.
  void review() LAPSE_REQUIRES(progress_role) { request_end_turn(); }

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Takes a LevelNotice.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void handle_deadline(Clock::time_point now) override LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel level) const override LAPSE_REQUIRES(progress_role);

 private:
  GroupLevels& add(GroupNumber number) LAPSE_REQUIRES(progress_role);
  // Of a message. In slots, a group that is new here begins; null: it has ended.
  GroupLevels* find_or_begin(GroupNumber number) LAPSE_REQUIRES(progress_role);
  // The steps of a turn.
  void advance_cut() LAPSE_REQUIRES(progress_role);
  void learn() LAPSE_REQUIRES(progress_role);
  void forget_ended() LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  Replication& replication_;
  LevelSetting setting_;              // constant during a phase
  std::shared_ptr<GroupLevels> all_;  // likewise
  Listener listener_;
  std::map<GroupNumber, std::shared_ptr<GroupLevels>> groups_ LAPSE_GUARDED_BY(progress_role);
  // In slots: all groups up to this one have ended, and these others.
  GroupNumber ended_up_to_ LAPSE_GUARDED_BY(progress_role) = 0;
  std::set<GroupNumber> ended_ LAPSE_GUARDED_BY(progress_role);
  bool is_cutting_ LAPSE_GUARDED_BY(progress_role) = false;
  bool waits_to_cut_ LAPSE_GUARDED_BY(progress_role) = false;  // another user cuts
  bool owes_ LAPSE_GUARDED_BY(progress_role) = false;          // peers wait for what it cannot send yet
};

}  // namespace lapse
