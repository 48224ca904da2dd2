// Checks a history of counters while it happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "lapse/core/types.hpp"
#include "test/support/history_counters.hpp"

namespace lapse::test {

// For runs in which one thread makes every call and receives every answer, so that "before" is defined across
// workers. An operation takes effect once, at the owner, between its call and its answer. So a pull holds
// every push that was answered before the pull was called, every push that an earlier answered pull held, and
// no push that has not been issued (linearizability of each key).
//
// In an eventual table this holds only for operations and reads that certainly concern the main copy. Any
// pull holds what the same worker's answered pulls held, and no push that has not been issued.
//
// A reset wipes at least the pushes that are known to have taken effect when it is issued, and at most those
// that have been issued when it is answered.
//
// Every member function throws HistoryViolation.
class LiveCounters {
 public:
  LiveCounters(std::size_t workers, std::size_t keys, const CounterRules& rules = {});

  void push_issued(std::size_t worker, Key key) { ++of(key).issued[worker]; }
  // The first `number` pushes of the worker to the key have taken effect, at the given copy.
  void push_answered(std::size_t worker, Key key, std::int64_t number, Copy copy = Copy::any);
  // Called by the setter of the key.
  void reset_issued(Key key, std::int64_t number);
  void reset_answered(Key key, std::int64_t number);

  // From now on a pull at clock c of its worker holds every push that another worker issued before its own
  // clock c - bound, and is not called before the other has reached that clock. Without resets.
  // Of workers of the same group alone, whose numbers are equal modulo `groups`.
  void set_clock_bound(std::uint32_t bound, std::size_t groups) {
    clock_bound_ = bound;
    groups_ = groups;
  }
  void advanced(std::size_t worker);
  // The worker begins at this clock. Until then it has issued no push. Not called: at clock 0, with the
  // others.
  void joins(std::size_t worker) { clocks_[worker].is_absent = true; }
  void joined(std::size_t worker, std::int64_t clock);
  // The worker issues no push any more.
  void ended(std::size_t worker) { clocks_[worker].ended = true; }

  // The least that a pull that is called now must hold.
  struct Floor {
    Counts counts;  // with the number of the last reset, if any
    // A worker that has not reached the clock that it must have reached.
    std::optional<std::size_t> too_early = {};
    Counts merged = {};  // where there are resets: pushes that have taken effect, wiped ones included
  };
  Floor floor(std::size_t worker, Key key, Copy copy = Copy::any) const;
  // Records the answer of a pull that was called when floor(worker, key, copy) was `floor`.
  void pull_answered(std::size_t worker, Key key, const Floor& floor, const Counts& counts,
                     Copy copy = Copy::any);

  // Changes by the holder of a lease belong to the main copy once the serving rank has handled the end of the
  // lease: immediately (`at_once`), or later.
  void lease_touched(Key key);
  void lease_over(Key key, bool at_once);

  // A worker waits until its pushes are merged, and its domain's replicas are at least as new as this call
  // (wait_sync).
  struct Sync {
    std::size_t worker;
    std::vector<std::int64_t> pushes;  // by key
    std::vector<Counts> main;          // by key: the least that the main copy holds
  };
  Sync sync_called(std::size_t worker) const;
  // The wait is over. `domain`: all workers of the worker's domain.
  void synced(const Sync& sync, std::span<const std::size_t> domain);

  // Called at the end of the run.
  void check_final(Key key, const Counts& counts) const;

 private:
  // How many pushes of each worker a reset has wiped, including those that earlier resets wiped.
  struct Wiped {
    Counts lower;
    Counts upper;  // empty: unknown
  };
  struct OfKey {
    Counts issued;
    Counts floor;                   // of the main copy
    Counts merged;                  // with resets: pushes that have been merged
    std::vector<Counts> of_worker;  // eventual: what the pulls of each worker have held
    std::map<std::int64_t, Wiped> wiped;
    CounterChain chain;
    std::optional<Counts> before_lease = {};  // the lease of that change has ended
    bool lease_over = false;                  // the lease of that change has ended
  };
  OfKey& of(Key key) { return keys_[key.index()]; }
  bool is_main(Copy copy) const { return !rules_.eventual || copy == Copy::main; }
  void raise(Counts& floor, const Counts& counts) const;
  void check_issued(const OfKey& state, Key key, const Counts& counts) const;

  struct ClockOf {
    std::vector<std::vector<std::int64_t>> issued;  // by clock from 1 on and key: pushes before it
    bool is_absent = false;
    bool ended = false;
  };
  // Raises the floor of a pull that the worker calls now.
  void raise_to_clock(std::size_t worker, Key key, Floor& floor) const;

  CounterRules rules_;
  std::size_t workers_;
  std::optional<std::uint32_t> clock_bound_;
  std::size_t groups_ = 1;
  std::vector<ClockOf> clocks_;  // by worker
  std::vector<OfKey> keys_;
};

}  // namespace lapse::test
