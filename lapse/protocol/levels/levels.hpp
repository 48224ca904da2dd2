// Levels: up to which clock of the slowest worker all copies show all updates.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/levels/level_tree.hpp"
#include "lapse/protocol/modules/replication.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// level_up, level_down.
struct LevelRecord {
  Level level = 0;
};
static_assert(sizeof(LevelRecord) == 8);
// level_near: to the other ranks of a domain.
struct NearLevelRecord {
  Level clock = 0;
  Level fresh = 0;
};
static_assert(sizeof(NearLevelRecord) == 16);
// fresh: ends a part of the REFRESHes to the receiver.
struct FreshRecord {
  RefreshParts::Part part;
  Level level = 0;
};
static_assert(sizeof(FreshRecord) == 24);

// Workers count clocks, and a table may bound how far a worker may be ahead of what it can read (see
// docs/consistency.md). This module finds out what can be read; workers ask it before they access such
// a table. It knows no key and no bound:
// 1. When the clocks of all workers of a domain have risen, each of its ranks cuts: what they have changed in
//    the replicas that it serves is sent to the owners and merged. Then the level *merged* of the rank rises.
// 2. The minimum over all ranks goes up a tree of ranks, and down again. A rank that learns it sends to every
//    other domain the refreshes that are due, then FRESH: up to this level, all is sent.
// 3. When FRESH and all refreshes before it have come from every rank that serves the same keys for another
//    domain, the next cut carries the level: a replica with an unanswered DELTA drops a refresh, and one that
//    becomes the main copy gets it by TRANSFER. When that cut has ended, the level *fresh* of the rank rises.
// A clock costs 2 (N - 1) records for the tree of N ranks, one for each pair of ranks that serve the same
// keys, and two for each pair of ranks of a domain, however many keys there are.
//
// Where no table has a bound, nothing is counted or sent.
//
// Thread safety: the holder of the progress lock; learnt(), fresh() and is_used(): any thread.
class Levels final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::level_up}, {FrameKind::level_down}, {FrameKind::level_near}, {FrameKind::fresh}};

  Levels(const Registry& registry, Outbox& outbox, Replication& replication)
      : registry_(registry), outbox_(outbox), replication_(replication), parts_of_(ranks()) {}

  // Called before a phase, on every rank, after the seats of its workers are taken.
  void start() LAPSE_REQUIRES(progress_role);
  // Whether some table has a bound. Constant during a phase.
  bool is_used() const { return is_used_; }
  // All main copies have every update of the clocks before this one.
  Level learnt() const { return learnt_.load(std::memory_order_acquire); }
  // All readable copies of this domain have.
  Level fresh() const { return domain_fresh_.load(std::memory_order_acquire); }
  // Whether a worker at this clock may access every table, by the tightest bounds.
  bool admits_all(Level clock) const {
    return clock - least_bound_ <= learnt() && clock - least_bound_of_copies_ <= fresh();
  }
  // The level that it waits for until then.
  Level awaited(Level clock) const { return clock - std::min(least_bound_, least_bound_of_copies_); }
  bool admits(const TableShard& table, Level clock) const {
    const auto& bound = table.definition().clock_bound;
    return !bound || clock - *bound <= readable(table);
  }
  // Reads of the table show all updates from before this clock.
  Level readable(const TableShard& table) const {
    return table.store().may_have_copies() ? fresh() : learnt();
  }

  std::span<const FrameSpec> frames() const override { return kFrames; }
  // Takes a LevelNotice.
  void handle_submission(Submission& submission) override LAPSE_REQUIRES(progress_role);
  void handle_frame(Rank from, const FrameHeader& header, const std::byte* records) override
      LAPSE_REQUIRES(progress_role);
  void handle_deadline(Clock::time_point now) override LAPSE_REQUIRES(progress_role);
  void end_turn() override LAPSE_REQUIRES(progress_role);
  bool idle(IdleLevel level) const override LAPSE_REQUIRES(progress_role);

 private:
  static constexpr Level kUnbounded = std::numeric_limits<Level>::max() / 2;

  // Another rank that serves, for another domain, keys that this rank serves.
  struct Peer {
    Rank rank;
    Level fresh = 0;
  };
  // A rank of this domain.
  struct Neighbour {
    Rank rank;
    NearLevelRecord reported;
  };
  // A FRESH whose part is not complete yet.
  struct Promise {
    std::uint64_t part;
    Level level;
  };

  std::size_t ranks() const { return static_cast<std::size_t>(registry_.ranks()); }
  Level own_clock() const LAPSE_REQUIRES(progress_role);
  // The minimum of the clocks of this domain.
  Level clock_of_domain() const LAPSE_REQUIRES(progress_role);
  // The level up to which all peers have sent all.
  Level complete_level() LAPSE_REQUIRES(progress_role);
  bool wants_cut() LAPSE_REQUIRES(progress_role);
  void take_fresh(Rank from, const FreshRecord& record) LAPSE_REQUIRES(progress_role);
  // The steps of a turn.
  void advance_cut() LAPSE_REQUIRES(progress_role);
  void report() LAPSE_REQUIRES(progress_role);
  void learn() LAPSE_REQUIRES(progress_role);
  void notify_neighbours() LAPSE_REQUIRES(progress_role);
  void publish() LAPSE_REQUIRES(progress_role);

  const Registry& registry_;
  Outbox& outbox_;
  Replication& replication_;
  // constant during a phase
  bool is_used_ = false;
  Level least_bound_ = kUnbounded;            // of tables without copies
  Level least_bound_of_copies_ = kUnbounded;  // of the others
  // guarded by the progress lock
  std::vector<Peer> peers_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Neighbour> neighbours_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::deque<Promise>> parts_of_ LAPSE_GUARDED_BY(progress_role);  // by rank
  LevelTree tree_ LAPSE_GUARDED_BY(progress_role);
  Level clock_ LAPSE_GUARDED_BY(progress_role) = 0;  // own_clock(), as last seen
  Level merged_ LAPSE_GUARDED_BY(progress_role) = 0;
  Level fresh_ LAPSE_GUARDED_BY(progress_role) = 0;  // of this rank
  bool is_cutting_ LAPSE_GUARDED_BY(progress_role) = false;
  bool waits_to_cut_ LAPSE_GUARDED_BY(progress_role) = false;  // another user cuts
  Level cut_clock_ LAPSE_GUARDED_BY(progress_role) = 0;  // what merged_ and fresh_ become when the cut ends
  Level cut_fresh_ LAPSE_GUARDED_BY(progress_role) = 0;
  Level sent_up_ LAPSE_GUARDED_BY(progress_role) = 0;    // to the parent
  Level heard_ LAPSE_GUARDED_BY(progress_role) = 0;      // the minimum of all ranks, before it is learnt
  Level marked_ LAPSE_GUARDED_BY(progress_role) = 0;     // the level for which marks were taken last
  Level passed_on_ LAPSE_GUARDED_BY(progress_role) = 0;  // to the children
  NearLevelRecord sent_near_ LAPSE_GUARDED_BY(progress_role);
  // self-synchronised
  std::atomic<Level> learnt_{0};
  std::atomic<Level> domain_fresh_{0};
};

}  // namespace lapse
