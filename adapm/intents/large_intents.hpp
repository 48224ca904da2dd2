// Intents of one worker with more keys than one round handles.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "adapm/intent.hpp"
#include "adapm/intents/intent_search.hpp"
#include "lapse/core/types.hpp"

namespace adapm {

// A round holds the progress lock. The keys of a large intent are wanted over several rounds, and unwanted
// over several, so that no access waits for all of them. One intent after the other: at most one is partly
// wanted; if it ends then, only its wanted keys are unwanted.
//
// The keys of an intent are numbered by places: first the list, then the range.
//
// Thread safety: one thread at a time.
class LargeIntents {
 public:
  // The most keys in large intents that a round wants, and that it unwants, for a worker.
  static constexpr std::uint64_t kKeysPerRound = std::uint64_t{1} << 14;

  static bool is_large(const Intent& intent) { return intent.size() > kKeysPerRound; }

  // Adds an actionable intent, none of whose keys is wanted yet.
  void begin(Intent intent) { beginning_.push_back(std::move(intent)); }
  // Adds an ended intent, all of whose keys are wanted.
  void end(Intent intent) {
    const std::uint64_t size = intent.size();
    ending_.push_back({std::move(intent), size});
  }
  // Ends all intents that are not completely wanted.
  void end_all() {
    if (!beginning_.empty()) end_first();
    beginning_.clear();
  }

  // Begins a round at the worker's clock `now`. Calls on(intent, from, to) for the places of newly wanted
  // keys, and complete(intent), which may move from it, once all keys of an intent are wanted.
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
  // Calls off(intent, from, to) for the places of keys to unwant.
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

  // Whether the key is in an intent that is not completely wanted; in one that has ended and is not
  // completely unwanted.
  bool is_beginning(lapse::TableId table, lapse::Key key) const {
    SearchBudget budget(kSearched);
    return std::ranges::any_of(beginning_,
                               [&](const Intent& intent) { return has_key(intent, table, key, budget); });
  }
  bool is_ending(lapse::TableId table, lapse::Key key) const {
    SearchBudget budget(kSearched);
    return std::ranges::any_of(
        ending_, [&](const Ending& ending) { return has_key(ending.intent, table, key, budget); });
  }
  // False if the next round has keys to want or to unwant.
  bool empty() const { return beginning_.empty() && ending_.empty(); }

 private:
  static constexpr std::size_t kSearched = std::size_t{1} << 17;

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
