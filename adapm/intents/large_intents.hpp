// Intents of one worker with more keys than one round takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>

#include "adapm/intent.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// A round has the progress lock: the keys of a large intent are wanted over several rounds, and unwanted over
// several, so that no access waits for all of them. One intent after the other, so that at most one is wanted
// in part; one that ends before that is over has no other keys to unwant.
//
// The keys of an intent have places: those of the list, then those of the range.
//
// Thread safety: one thread at a time.
class LargeIntents {
 public:
  // Keys of a worker that a round wants, and that it unwants, beside those of intents that are not large.
  static constexpr std::uint64_t kKeysPerRound = std::uint64_t{1} << 14;

  static bool is_large(const Intent& intent) { return intent.size() > kKeysPerRound; }

  // It is actionable, and nothing of it is wanted yet.
  void begin(Intent intent) { beginning_.push_back(std::move(intent)); }
  // It has ended, and all its keys are wanted.
  void end(Intent intent) {
    const std::uint64_t size = intent.size();
    ending_.push_back({std::move(intent), size});
  }
  // So have all those that are wanted in part.
  void end_all() {
    if (!beginning_.empty()) end_first();
    beginning_.clear();
  }

  // A round begins while the worker's clock is `now`. Calls on(intent, from, to) for the places of keys that
  // are wanted from now on; complete(intent), to move from, for each of which all keys are.
  template <class On, class Complete>
  void want_some(lapse::Clock now, On&& on, Complete&& complete) {
    std::uint64_t left = kKeysPerRound;
    while (!beginning_.empty() && left > 0) {
      Intent& intent = beginning_.front();
      if (intent.end <= now) {
        end_first();
        continue;
      }
      const std::uint64_t to = wanted_ + std::min(left, intent.size() - wanted_);
      on(std::as_const(intent), wanted_, to);
      left -= to - wanted_;
      wanted_ = to;
      if (wanted_ < intent.size()) continue;
      complete(intent);
      remove_first();
    }
  }
  // Calls off(intent, from, to) for the places of keys that are no longer wanted.
  template <class Off>
  void unwant_some(Off&& off) {
    std::uint64_t left = kKeysPerRound;
    while (!ending_.empty() && left > 0) {
      const Ending& first = ending_.front();
      const std::uint64_t to = unwanted_ + std::min(left, first.wanted - unwanted_);
      off(first.intent, unwanted_, to);
      left -= to - unwanted_;
      unwanted_ = to;
      if (unwanted_ < first.wanted) continue;
      ending_.pop_front();
      unwanted_ = 0;
    }
  }

  // Whether the next round has something to want or to unwant.
  bool empty() const { return beginning_.empty() && ending_.empty(); }

 private:
  struct Ending {
    Intent intent;
    std::uint64_t wanted;  // keys in the first places
  };

  void end_first() {
    if (wanted_ > 0) ending_.push_back({std::move(beginning_.front()), wanted_});
    remove_first();
  }
  void remove_first() {
    beginning_.pop_front();
    wanted_ = 0;
  }

  std::deque<Intent> beginning_;
  std::uint64_t wanted_ = 0;  // keys of the first
  std::deque<Ending> ending_;
  std::uint64_t unwanted_ = 0;  // likewise
};

}  // namespace adapm
