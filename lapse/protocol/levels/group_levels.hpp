// The levels of one group of workers, as one rank takes part in them.
#pragma once

#include <array>
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
#include "lapse/protocol/levels/level_tree.hpp"
#include "lapse/protocol/table/refresh_parts.hpp"
#include "lapse/protocol/table/table_shard.hpp"
#include "lapse/protocol/worker/worker_endpoint.hpp"

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

// What a rank's groups share. Constant during a phase.
struct LevelSetting {
  static constexpr Level kUnbounded = std::numeric_limits<Level>::max() / 2;

  Rank self;
  std::int32_t ranks = 1;
  // Other ranks that serve, for another domain, keys that this rank serves; the other ranks of this domain.
  std::vector<Rank> peers;
  std::vector<Rank> neighbours;
  bool is_used = false;            // some table has a bound
  bool counts_values = false;      // by worker: what copies may lack of one's changes
  bool counts_clocks = false;      // of clocks
  bool has_slots = false;          // groups begin and end during the phase, and not every rank knows of each
  bool some_may_join = false;      // workers of some rank join and leave during the phase
  bool may_join = false;           // this rank's workers join and leave during the phase
  Level least_bound = kUnbounded;  // of tables without copies
  Level least_bound_of_copies = kUnbounded;  // of the others
};

// Levels says what levels are, and calls what a turn consists of. A rank without workers of the group takes
// part, too, as it may serve what they change.
//
// With slots, ranks learn of a group one after the other: those of its workers by seat(), the others by a
// message. No rank can say that it has no worker of the group before every worker sits somewhere; so the sum
// of those that sit goes up the tree, too, and that all sit comes down. When all workers have left and what
// they have changed is merged on every rank, the root ends the group.
//
// A rank whose workers may join later holds back no other while it has none: it counts as one clock ahead of
// what it has learnt, but of no worker, or as the least clock for which a worker of another rank may wait.
//
// Thread safety: the holder of the progress lock; what workers ask: any thread.
class GroupLevels {
 public:
  GroupLevels(GroupNumber number, const LevelSetting& setting);
  GroupLevels(const GroupLevels&) = delete;
  GroupLevels& operator=(const GroupLevels&) = delete;

  // Called before the workers begin: those of this rank. `all`: of all ranks; of use with slots.
  void seat(std::span<WorkerEndpoint* const> workers, std::size_t all) LAPSE_REQUIRES(progress_role);
  // The worker makes no call any more, and its endpoint gets another seat.
  void leave(const WorkerEndpoint& worker) LAPSE_REQUIRES(progress_role);
  // Where workers may join, those that were seated have not. The worker begins at the clock that this rank
  // has reported: updates from before it are promised to others already.
  void join(WorkerEndpoint& worker) LAPSE_REQUIRES(progress_role);

  // --- workers

  // Whether some table has a bound, or one of clocks. Constant during a phase.
  bool is_used() const { return setting_.is_used; }
  bool counts_clocks() const { return setting_.counts_clocks; }
  bool counts_values() const { return setting_.counts_values; }
  // Whether no worker of this rank is at a lower clock than this one, which the caller has reached.
  bool may_raise(Level clock) const;
  // All main copies have every update of the clocks before this one.
  Level learnt() const { return learnt_.load(std::memory_order_acquire); }
  // All readable copies of this domain have.
  Level fresh() const { return domain_fresh_.load(std::memory_order_acquire); }
  // Whether a worker at this clock may access every table, by the tightest bounds.
  bool admits_all(Level clock) const {
    return clock - setting_.least_bound <= learnt() && clock - setting_.least_bound_of_copies <= fresh();
  }
  // The level that it waits for until then.
  Level awaited(Level clock) const {
    return clock - std::min(setting_.least_bound, setting_.least_bound_of_copies);
  }
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

  // --- messages of other ranks; throw ProtocolError if no rank sends them

  void take_up(Rank from, const LevelReport& report) LAPSE_REQUIRES(progress_role);
  void take_down(Rank from, const LevelReport& report) LAPSE_REQUIRES(progress_role);
  void take_near(Rank from, const NearLevelRecord& record) LAPSE_REQUIRES(progress_role);
  // From one of the peers.
  void take_fresh(Rank from, const FreshRecord& record) LAPSE_REQUIRES(progress_role);

  // --- the steps of a turn

  // Asks for epochs up to this one, as workers do by their WorkerLevel. False: that was asked for before.
  bool want(Level epoch) LAPSE_REQUIRES(progress_role) {
    if (epoch <= wanted_here_) return false;
    wanted_here_ = epoch;
    return true;
  }
  // `held`: the group does not end yet, as others wait for epochs of it.
  void read_clocks(bool held) LAPSE_REQUIRES(progress_role) { clock_ = std::max(clock_, own_clock(held)); }
  bool wants_cut(RefreshParts& refreshes) LAPSE_REQUIRES(progress_role);
  // A cut begins, which this group may have wanted, or another. Before the marks are taken.
  void prepare_cut(RefreshParts& refreshes) LAPSE_REQUIRES(progress_role);
  void end_cut() LAPSE_REQUIRES(progress_role);
  void report(Outbox& outbox) LAPSE_REQUIRES(progress_role);
  // Whether all ranks have merged a level that is not learnt here.
  bool has_heard() const LAPSE_REQUIRES(progress_role) { return heard_.exceeds(known_); }
  // Whether the marks of changes must be taken for that level: once for each, as what is changed later is not
  // owed for it.
  bool take_marks() LAPSE_REQUIRES(progress_role);
  // All refreshes up to that level are sent.
  void learn(RefreshParts& refreshes, Outbox& outbox) LAPSE_REQUIRES(progress_role);
  // Whether a level has risen since the last call, or the number of seated workers.
  bool has_risen() LAPSE_REQUIRES(progress_role);
  void notify_neighbours(Outbox& outbox) LAPSE_REQUIRES(progress_role);
  // Wakes workers. Returns whether visible() has risen since the last call.
  bool publish() LAPSE_REQUIRES(progress_role);
  // Whether a level may rise by events in other modules: a DELTA or an operation is answered, a REFRESH
  // arrives, a lease ends.
  bool waits() const LAPSE_REQUIRES(progress_role);
  // Whether this rank has workers that have not left.
  bool has_workers() const LAPSE_REQUIRES(progress_role) { return sitting_ > 0; }
  // No rank needs the group any more, and no worker of this one.
  bool is_over() const LAPSE_REQUIRES(progress_role) { return ended_ && !has_workers(); }

 private:
  // A FRESH whose part is not complete yet.
  struct Promise {
    std::uint64_t part;
    LevelPair level;
  };
  struct Peer {
    Rank rank;
    LevelPair fresh = {};
    std::vector<Promise> promises = {};
  };
  struct Neighbour {
    Rank rank;
    NearLevelRecord reported = {};
  };
  struct Seat {
    explicit Seat(WorkerEndpoint& its_worker) : worker(its_worker) {}
    WorkerEndpoint& worker;
    std::atomic<bool> has_left{false};
  };

  // Calls f(level) for the workers of this rank that have not left.
  template <class F>
  void for_each_level(F&& f) const {
    for (const Seat& seat : seats_)
      if (!seat.has_left.load(std::memory_order_acquire)) f(seat.worker.level());
  }
  // Whether this rank knows all its workers of the group.
  bool knows_workers() const LAPSE_REQUIRES(progress_role) {
    return !setting_.has_slots || !seats_.empty() || seats_known_.are_complete();
  }
  Level highest_clock() const LAPSE_REQUIRES(progress_role);
  Level own_clock(bool held) const LAPSE_REQUIRES(progress_role);
  // The minimum of the clocks of this domain.
  Level clock_of_domain() const LAPSE_REQUIRES(progress_role);
  // The level up to which all peers have sent all.
  LevelPair complete_level(RefreshParts& refreshes) LAPSE_REQUIRES(progress_role);
  void raise_visible(Level epoch) LAPSE_REQUIRES(progress_role) {
    if (epoch > visible()) visible_.store(epoch, std::memory_order_release);
  }

  const GroupNumber number_;
  const LevelSetting& setting_;
  std::deque<Seat> seats_;  // constant from seat() on
  // guarded by the progress lock
  std::size_t sitting_ LAPSE_GUARDED_BY(progress_role) = 0;  // have not left
  Level last_clock_ LAPSE_GUARDED_BY(progress_role) = 0;     // of workers that have left
  Level highest_ LAPSE_GUARDED_BY(progress_role) = 0;        // clock of a worker, as heard
  LevelReport::Seats own_seats_ LAPSE_GUARDED_BY(progress_role);
  LevelReport::Seats seats_known_ LAPSE_GUARDED_BY(progress_role);  // of all ranks
  std::vector<Peer> peers_ LAPSE_GUARDED_BY(progress_role);
  std::vector<Neighbour> neighbours_ LAPSE_GUARDED_BY(progress_role);
  LevelTree tree_ LAPSE_GUARDED_BY(progress_role);
  Level clock_ LAPSE_GUARDED_BY(progress_role) = 0;  // own_clock(), as last seen
  LevelPair merged_ LAPSE_GUARDED_BY(progress_role);
  LevelPair fresh_ LAPSE_GUARDED_BY(progress_role);  // of this rank
  LevelPair cut_ LAPSE_GUARDED_BY(progress_role);    // what merged_ and fresh_ become when the cut ends
  LevelPair cut_fresh_ LAPSE_GUARDED_BY(progress_role);
  Level wanted_ LAPSE_GUARDED_BY(progress_role) = 0;       // the epoch to cut for
  Level wanted_here_ LAPSE_GUARDED_BY(progress_role) = 0;  // by want
  LevelReport sent_up_ LAPSE_GUARDED_BY(progress_role);    // to the parent
  LevelPair heard_ LAPSE_GUARDED_BY(progress_role);        // the minimum of all ranks, before it is learnt
  LevelPair marked_ LAPSE_GUARDED_BY(progress_role);       // the level for which marks were taken last
  LevelPair known_ LAPSE_GUARDED_BY(progress_role);        // what is learnt
  bool ended_ LAPSE_GUARDED_BY(progress_role) = false;     // on all ranks
  LevelReport sent_down_ LAPSE_GUARDED_BY(progress_role);  // to the children
  NearLevelRecord sent_near_ LAPSE_GUARDED_BY(progress_role);
  std::array<LevelPair, 5> levels_before_ LAPSE_GUARDED_BY(progress_role){};
  std::array<Level, 3> announced_ LAPSE_GUARDED_BY(progress_role){};  // learnt, fresh, visible: to workers
  // self-synchronised
  std::atomic<Level> learnt_{0};  // the clock of known_
  std::atomic<Level> domain_fresh_{0};
  std::atomic<Level> begun_{0};  // the epoch of the last cut that has begun
  std::atomic<Level> visible_{0};
};

}  // namespace lapse
