// Checks a history of counting while it happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lapse/core/types.hpp"
#include "test/support/history_counters.hpp"

namespace lapse::test {

// For runs in which one thread sees every call and every answer, so that "before" has a meaning for all
// workers together. An operation takes effect once, at the owner, between its call and its answer; so a pull
// holds every push that was answered before the pull was called, everything that an earlier answered pull
// held, and nothing that has not been issued (linearizability of each key).
// Every member throws HistoryViolation.
class LiveCounters {
 public:
  LiveCounters(std::size_t workers, std::size_t keys);

  void push_issued(std::size_t worker, Key key) { ++of(key).issued[worker]; }
  // The first `number` pushes of the worker to the key have taken effect.
  void push_answered(std::size_t worker, Key key, std::int64_t number);
  // What a pull that is called now must hold at least.
  const Counts& floor(Key key) const { return keys_[key.index()].floor; }
  // A pull that was called when floor(key) was `floor` is answered.
  void pull_answered(std::size_t worker, Key key, const Counts& floor, const Counts& counts);

 private:
  struct OfKey {
    Counts issued;
    Counts floor;
    CounterChain chain;
  };
  OfKey& of(Key key) { return keys_[key.index()]; }

  std::vector<OfKey> keys_;
};

}  // namespace lapse::test
