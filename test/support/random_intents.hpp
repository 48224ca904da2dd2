// Keys that workers of a random workload want for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "lapse/core/random.hpp"
#include "lapse/core/types.hpp"
#include "lapse/protocol/table/intent_source.hpp"
#include "test/support/random_workload_client.hpp"

namespace lapse::test {

// What the workers of one rank have begun and ceased to want since the last round, in their order.
//
// Thread safety: any thread.
class RandomIntents final : public IntentSource {
 public:
  // Of keys by their names; each want is ended by one unwant.
  void want(TableId table, std::span<const Key> keys) { append(table, keys, true); }
  void unwant(TableId table, std::span<const Key> keys) { append(table, keys, false); }
  // Whether the next round has something to hand on.
  bool pending() const override;
  // Whether the rank's workers want the key now.
  bool wanted(TableId table, Key key) const;

  // Hands on what has come, in calls in which each key stands once.
  void begin_round(WantSink& sink) override;

 private:
  struct Toggle {
    TableId table;
    Key key;
    bool on;
  };

  void append(TableId table, std::span<const Key> keys, bool on);

  mutable std::mutex mutex_;
  std::deque<Toggle> toggles_;                                     // since the last round
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> wanted_;  // how many times, by table and key
};

// One worker's intents in a random workload. Used by the worker's thread.
class IntentPlay {
 public:
  // `leaves_some`: some intents of a worker that has made all its calls do not end.
  IntentPlay(RandomIntents& intents, bool leaves_some) : intents_(intents), leaves_some_(leaves_some) {}

  // From now on until so many calls have been made. `keys` are numbers; one may stand twice.
  void begin(const TableClient& client, std::span<const Key> keys, std::size_t until_call);
  // So many calls have been made.
  void end_due(std::size_t calls);
  // All calls have been made.
  void end_all(RandomEngine& random);
  // Whether there is something to end.
  bool active() const { return !active_.empty(); }

 private:
  struct Active {
    TableId table;
    std::vector<Key> names;
    std::size_t until_call;
  };

  RandomIntents& intents_;
  const bool leaves_some_;
  std::vector<Active> active_;
};

}  // namespace lapse::test
