// Checks a history of counting while it happens.
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

// For runs in which one thread sees every call and every answer, so that "before" has a meaning for all
// workers together. An operation takes effect once, at the owner, between its call and its answer; so a pull
// holds every push that was answered before the pull was called, everything that an earlier answered pull
// held, and nothing that has not been issued (linearizability of each key).
//
// Of an eventual table this holds for the main copy alone: for what was done at it, and seen of it, for
// certain. Any pull holds what the same worker's answered pulls held, and nothing that has not been issued.
//
// A reset wipes at least the pushes of which it is known, as it is issued, that they have taken effect, and
// at most those that have been issued when it is answered.
//
// Every member throws HistoryViolation.
class LiveCounters {
 public:
  LiveCounters(std::size_t workers, std::size_t keys, const CounterRules& rules = {});

  void push_issued(std::size_t worker, Key key) { ++of(key).issued[worker]; }
  // The first `number` pushes of the worker to the key have taken effect, at that copy.
  void push_answered(std::size_t worker, Key key, std::int64_t number, Copy copy = Copy::any);
  // By the setter of the key.
  void reset_issued(Key key, std::int64_t number);
  void reset_answered(Key key, std::int64_t number);

  // What a pull that is called now must hold at least.
  struct Floor {
    Counts counts;  // no reset, or this one
    Counts merged;  // where there are resets: pushes that have taken effect, wiped ones included
  };
  Floor floor(std::size_t worker, Key key, Copy copy = Copy::any) const;
  // A pull that was called when floor(worker, key, copy) was `floor` is answered.
  void pull_answered(std::size_t worker, Key key, const Floor& floor, const Counts& counts,
                     Copy copy = Copy::any);

  // What the holder of a lease does is part of the main copy when the rank that serves the key has taken the
  // end of the lease: `at_once`, or later.
  void lease_touched(Key key);
  void lease_over(Key key, bool at_once);

  // A worker waits until its pushes are merged and its domain's replicas are no older than now (wait_sync).
  struct Sync {
    std::size_t worker;
    std::vector<std::int64_t> pushes;  // by key
    std::vector<Counts> main;          // by key: what is known of the main copy
  };
  Sync sync_called(std::size_t worker) const;
  // It has waited; `domain` are all workers of its domain.
  void synced(const Sync& sync, std::span<const std::size_t> domain);

  // When everything is over.
  void check_final(Key key, const Counts& counts) const;

 private:
  // How many pushes of each worker a reset has wiped, together with those before it.
  struct Wiped {
    Counts lower;
    Counts upper;  // empty: not known
  };
  struct OfKey {
    Counts issued;
    Counts floor;                   // of the main copy
    Counts merged;                  // with resets: pushes that it has had
    std::vector<Counts> of_worker;  // eventual: what each worker's pulls have held
    std::map<std::int64_t, Wiped> wiped;
    CounterChain chain;
    std::optional<Counts> before_lease = {};  // the floor, while the change of a holder may be on its way
    bool lease_over = false;                  // and its lease has ended
  };
  OfKey& of(Key key) { return keys_[key.index()]; }
  bool is_main(Copy copy) const { return !rules_.eventual || copy == Copy::main; }
  void raise(Counts& floor, const Counts& counts) const;
  void check_issued(const OfKey& state, Key key, const Counts& counts) const;

  CounterRules rules_;
  std::size_t workers_;
  std::vector<OfKey> keys_;
};

}  // namespace lapse::test
