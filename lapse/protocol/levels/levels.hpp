// Levels: up to which clock of the slowest worker all copies show all updates.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/progress_role.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/host/outbox.hpp"
#include "lapse/protocol/host/protocol_module.hpp"
#include "lapse/protocol/levels/level_tree.hpp"
#include "lapse/protocol/modules/replication.hpp"
#include "lapse/protocol/worker/registry.hpp"

namespace lapse {

// level_near: to the other ranks of a domain.
struct NearLevelRecord {
  Level clock = 0;
  Level fresh = 0;
};
static_assert(sizeof(NearLevelRecord) == 16);
// fresh: ends a part of the REFRESHes to the receiver.
struct FreshRecord {
  RefreshParts::Part part;
  LevelPair level;
};
static_assert(sizeof(FreshRecord) == 32);

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
// Where no table has a bound, nothing is counted or sent.
//
// Thread safety: the holder of the progress lock; what workers ask: any thread.
class Levels final : public ProtocolModule {
 public:
  static constexpr FrameSpec kFrames[] = {
      {FrameKind::level_up}, {FrameKind::level_down}, {FrameKind::level_near}, {FrameKind::fresh}};

  Levels(const Registry& registry, Outbox& outbox, Replication& replication)
      : registry_(registry), outbox_(outbox), replication_(replication), parts_of_(ranks()) {}

  // Called before a phase, on every rank, after the seats of its workers are taken.
  void start() LAPSE_REQUIRES(progress_role);
  // Whether some table has a bound, or one of clocks. Constant during a phase.
  bool is_used() const { return is_used_; }
  bool counts_clocks() const { return counts_clocks_; }
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

  // The epoch in which a change that the worker has made before this call is visible in all copies. `shared`:
  // another rank of the domain may serve the key. Such a rank may have begun a cut of which this one does not
  // know yet: but then the cut before it is over, and has begun here.
  Level need(bool shared) const {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return begun_.load(std::memory_order_acquire) + (shared ? 2 : 1);
  }
  // The highest epoch whose changes are visible in all copies.
  Level visible() const { return visible_.load(std::memory_order_acquire); }
  // No need that is not visible yet is above this one.
  static constexpr Level kOpenNeeds = 3;

  // Asks for epochs up to this one, as workers do by their WorkerLevel.
  void want(Level epoch) LAPSE_REQUIRES(progress_role) {
    if (epoch <= wanted_here_) return;
    wanted_here_ = epoch;
    request_end_turn();
  }

  // `risen` is called at the end of a turn in which visible() has risen.
  void set_listener(std::function<void()> risen) { risen_ = std::move(risen); }

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
    LevelPair fresh = {};
  };
  // A rank of this domain.
  struct Neighbour {
    Rank rank;
    NearLevelRecord reported;
  };
  // A FRESH whose part is not complete yet.
  struct Promise {
    std::uint64_t part;
    LevelPair level;
  };

  std::size_t ranks() const { return static_cast<std::size_t>(registry_.ranks()); }
  Level own_clock() const LAPSE_REQUIRES(progress_role);
  // The minimum of the clocks of this domain.
  Level clock_of_domain() const LAPSE_REQUIRES(progress_role);
  // The level up to which all peers have sent all.
  LevelPair complete_level() LAPSE_REQUIRES(progress_role);
  bool wants_cut() LAPSE_REQUIRES(progress_role);
  void take_fresh(Rank from, const FreshRecord& record) LAPSE_REQUIRES(progress_role);
  // The steps of a turn.
  void advance_cut() LAPSE_REQUIRES(progress_role);
  void report() LAPSE_REQUIRES(progress_role);
  void learn() LAPSE_REQUIRES(progress_role);
  void notify_neighbours() LAPSE_REQUIRES(progress_role);
  void publish() LAPSE_REQUIRES(progress_role);
  void raise_visible(Level epoch) LAPSE_REQUIRES(progress_role) {
    if (epoch > visible()) visible_.store(epoch, std::memory_order_release);
  }

  const Registry& registry_;
  Outbox& outbox_;
  Replication& replication_;
  // constant during a phase
  bool is_used_ = false;
  bool counts_clocks_ = false;
  Level least_bound_ = kUnbounded;            // of tables without copies
  Level least_bound_of_copies_ = kUnbounded;  // of the others
  // guarded by the progress lock
  std::vector<Peer> peers_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Neighbour> neighbours_ LAPSE_GUARDED_BY(progress_role);
  std::vector<std::deque<Promise>> parts_of_ LAPSE_GUARDED_BY(progress_role);  // by rank
  LevelTree tree_ LAPSE_GUARDED_BY(progress_role);
  Level clock_ LAPSE_GUARDED_BY(progress_role) = 0;  // own_clock(), as last seen
  LevelPair merged_ LAPSE_GUARDED_BY(progress_role);
  LevelPair fresh_ LAPSE_GUARDED_BY(progress_role);  // of this rank
  bool is_cutting_ LAPSE_GUARDED_BY(progress_role) = false;
  bool waits_to_cut_ LAPSE_GUARDED_BY(progress_role) = false;  // another user cuts
  LevelPair cut_ LAPSE_GUARDED_BY(progress_role);  // what merged_ and fresh_ become when the cut ends
  LevelPair cut_fresh_ LAPSE_GUARDED_BY(progress_role);
  Level wanted_ LAPSE_GUARDED_BY(progress_role) = 0;       // the epoch to cut for
  Level wanted_here_ LAPSE_GUARDED_BY(progress_role) = 0;  // by want
  LevelReport sent_up_ LAPSE_GUARDED_BY(progress_role);    // to the parent
  LevelPair heard_ LAPSE_GUARDED_BY(progress_role);        // the minimum of all ranks, before it is learnt
  LevelPair marked_ LAPSE_GUARDED_BY(progress_role);       // the level for which marks were taken last
  LevelPair known_ LAPSE_GUARDED_BY(progress_role);        // what is learnt
  LevelReport sent_down_ LAPSE_GUARDED_BY(progress_role);  // to the children
  NearLevelRecord sent_near_ LAPSE_GUARDED_BY(progress_role);
  std::array<Level, 3> announced_ LAPSE_GUARDED_BY(progress_role){};  // learnt, fresh, visible: to workers
  std::function<void()> risen_;
  // self-synchronised
  std::atomic<Level> learnt_{0};  // the clock of known_
  std::atomic<Level> domain_fresh_{0};
  std::atomic<Level> begun_{0};  // the epoch of the last cut that has begun
  std::atomic<Level> visible_{0};
};

}  // namespace lapse
