// How much of a worker's updates some copy may lack.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>

#include "lapse/core/types.hpp"
#include "lapse/protocol/levels/group_levels.hpp"

namespace lapse {

// The gate of value bounds, for one worker and table: sums of the magnitudes of the worker's updates of each
// key that are not known to be visible in all copies (docs/consistency.md). A pure state machine. Magnitudes
// are sums, not signed: +1 and -1 do not cancel each other where they are in different copies.
//
// Thread safety: the worker's thread.
class ValueGate {
 public:
  // Whether an update of this magnitude keeps the bound. One that is larger passes alone.
  bool passes(Key key, double magnitude, double bound) const {
    const double sum = unsynced(key);
    return sum == 0 || sum + magnitude <= bound;
  }
  // The sum for a key.
  double unsynced(Key key) const;

  // The worker is about to push this.
  void add_unanswered(Key key, double magnitude) { unanswered_[key.value()] += magnitude; }
  bool has_unanswered(Key key) const { return unanswered_.contains(key.value()); }
  std::size_t unanswered() const { return unanswered_.size(); }
  // All updates of the key are answered; nullopt: they are visible in all copies, else they are in the epoch
  // `need`. Throws std::bad_alloc and then has no effect. Requires that those up to
  // need - GroupLevels::kOpenNeeds are visible.
  void answered(Key key, std::optional<Level> need);
  // Calls f(key) for each key with unanswered updates. f may call answered() for its key.
  template <class F>
  void for_each_unanswered(F&& f) {
    for (auto next = unanswered_.begin(); next != unanswered_.end();) {
      const Key key((next++)->first);
      f(key);
    }
  }
  // All updates up to this epoch are visible.
  void raise(Level visible);
  // All updates are.
  void clear();

  // Keys with answered updates that are not known to be visible.
  std::size_t answered() const {
    std::size_t keys = 0;
    for (const Open& open : open_) keys += open.sums.size();
    return keys;
  }
  // The highest epoch that some answered updates need.
  Level newest_need() const {
    Level newest = 0;
    for (const Open& open : open_) newest = std::max(newest, open.need);
    return newest;
  }
  // The highest epoch that the answered updates of the key need; nullopt if there are none.
  std::optional<Level> need(Key key) const;

 private:
  using Sums = std::unordered_map<std::uint64_t, double>;
  // Emptied as a whole: no key is searched for when an epoch becomes visible.
  struct Open {
    Level need = 0;
    Sums sums;
  };
  Open& open(Level need) { return open_[static_cast<std::size_t>(need) % open_.size()]; }

  Sums unanswered_;
  std::array<Open, GroupLevels::kOpenNeeds> open_;
};

}  // namespace lapse
