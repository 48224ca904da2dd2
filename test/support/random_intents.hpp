// Keys that workers of a random workload want for some time.
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

// What the workers of one rank have begun and ceased to want since the last round, in order.
//
// Thread safety: any thread.
class RandomIntents final : public IntentSource {
 public:
  // Keys are given by name. Each want is ended by one unwant.
  void want(TableId table, std::span<const Key> keys) { append(table, keys, true); }
  void unwant(TableId table, std::span<const Key> keys) { append(table, keys, false); }
  // Whether the next round would forward something.
  bool pending() const override;
  // Whether the rank's workers want the key now.
  bool wanted(TableId table, Key key) const;

  // Forwards what was recorded since the last round, in calls that name each key at most once.
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
  std::map<std::pair<std::uint32_t, std::uint64_t>, int> wanted_;  // number of wants, by table and key
};

// One worker's intents in a random workload. Used by the worker's thread.
class IntentPlay {
 public:
  // With `leaves_some`, some intents do not end with the worker's calls.
  IntentPlay(RandomIntents& intents, bool leaves_some) : intents_(intents), leaves_some_(leaves_some) {}

  // Begins an intent that lasts until `until_call` calls have been made. `keys` are numbers, and may repeat.
  void begin(const TableClient& client, std::span<const Key> keys, std::size_t until_call);
  // Ends the intents that are over after `calls` calls.
  void end_due(std::size_t calls);
  // Called after the worker's last call.
  void end_all(RandomEngine& random);
  // Whether some intent can be ended.
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
